import { digestJson, isDigest } from '@idunn/kernel';
import type { Expected } from '@idunn/readiness';
import type { Plan, SealedRelease } from '@idunn/release';
import { z } from 'zod';
import { digestSchema, incarnationSchema, momentSchema, nameSchema } from './words.ts';

const named = <T extends { readonly schema: string }>(schema: T['schema']) =>
  z.custom<T>((value) => typeof value === 'object' && value !== null && 'schema' in value && value.schema === schema);

/** A plan under its own digest: the bytes prove themselves, so their shape is the release room's alone. */
export const planRecordSchema = z
  .strictObject({
    schema: z.literal('idunn.plan-record/v1'),
    digest: digestSchema,
    target: nameSchema,
    plan: named<Plan>('idunn.plan/v1'),
  })
  .refine(({ digest, plan }) => digestJson(plan) === digest, 'the plan is not the one that its digest names (I2)');
export type PlanRecord = z.infer<typeof planRecordSchema>;

/** A sealed release as it is expected to run under its plan; the key is the digest of what is published (I2, I4). */
export const incarnationRecordSchema = z
  .strictObject({
    schema: z.literal('idunn.incarnation/v1'),
    incarnation: incarnationSchema,
    target: nameSchema,
    plan: digestSchema,
    expected: named<Expected>('idunn.expected/v1'),
    release: named<SealedRelease>('idunn.sealed-release/v1'),
    transaction: nameSchema,
    sealedAt: momentSchema,
  })
  .refine(({ incarnation, expected }) => isKeyOf(incarnation, expected), 'the key is not the digest of Expected (I2)');
export type IncarnationRecord = z.infer<typeof incarnationRecordSchema>;

function isKeyOf(incarnation: string, expected: Expected): boolean {
  const digest = incarnation.slice(incarnation.lastIndexOf('@') + 1);
  return isDigest(digest) && digestJson(expected) === digest;
}
