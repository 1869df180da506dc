import { type Code, type Digest, isCode, isDigest, type Json, type Moment, type Refusal } from '@idunn/kernel';
import type { IncarnationKey } from '@idunn/readiness';
import { z } from 'zod';

/** The words that several records share, each as strict as the record that holds it. */
const textSchema = z.string().max(65_536);
export const nameSchema = z.string().min(1).max(512);
export const epochSchema = z.int().nonnegative();

export const digestSchema = z.custom<Digest>((value) => typeof value === 'string' && isDigest(value), 'not a digest');

export const incarnationSchema = z.custom<IncarnationKey>(
  (value) => typeof value === 'string' && /^.+@sha256:[0-9a-f]{64}$/.test(value),
  'not an incarnation key',
);

export const momentSchema = z.strictObject({
  wallMs: z.number(),
  monotonicMs: z.number(),
  bootId: nameSchema,
}) satisfies z.ZodType<Moment>;

const jsonSchema = z.json() as z.ZodType<Json>;

export const refusalSchema = z.strictObject({
  code: z.custom<Code>((value) => typeof value === 'string' && isCode(value), 'not a code of the catalogue'),
  reason: textSchema,
  remedy: textSchema,
  detail: jsonSchema.optional(),
}) as z.ZodType<Refusal>;

export const requesterShape = { actor: nameSchema, tenant: nameSchema };
