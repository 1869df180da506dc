import { headerSchema } from '@idunn/kernel';
import { z } from 'zod';
import type { Activation, Expected, ObservedRuntime } from './expected.ts';
import type { Presence, PresentStatement, ReadyReceipt } from './presence.ts';
import {
  capabilities,
  digest,
  epoch,
  host,
  incarnation,
  keyId,
  MAX_DETAIL_LENGTH,
  name,
  port,
  publicKey,
  word,
} from './words.ts';

const endpoint = z.strictObject({ host, port });

/**
 * Strict, and of words only: a host path, a user or a secret has no field to enter by, and no field would take it
 * (I4).
 */
export const expectedSchema = z.strictObject({
  schema: z.literal('idunn.expected/v1'),
  fleet: name,
  machine: name,
  target: name,
  plan: digest,
  release: digest,
  build: digest,
  revision: word,
  runtime: z.strictObject({ driver: z.literal('process'), executable: digest, entry: digest.nullable() }),
  signer: keyId,
  health: z.strictObject({ kind: z.enum(['idunn', 'attended']), freshnessMs: z.int().positive() }),
  state: z.strictObject({ stateId: word, schema: word }).nullable(),
  endpoint: z.strictObject({ protocol: z.enum(['http', 'tcp']), host, fromPort: port, toPort: port }).nullable(),
  capabilities,
}) satisfies z.ZodType<Expected>;

export const activationSchema = z.strictObject({
  schema: z.literal('idunn.activation/v1'),
  activation: word,
  incarnation,
  target: name,
  publicKey,
  keyId,
  endpoint: endpoint.nullable(),
}) satisfies z.ZodType<Activation>;

export const observedRuntimeSchema = z.strictObject({
  identity: z.strictObject({
    kind: z.literal('linux-process'),
    pid: z.int().positive(),
    startTime: z.string().regex(/^[0-9]{1,20}$/),
    bootId: z.string().min(1).max(64),
    controlGroup: z.string().max(4096).nullable(),
    pidNamespace: z.string().min(1).max(64),
  }),
  executable: digest,
  argv: digest,
  entry: z.strictObject({ device: z.string().max(64), inode: z.string().max(64), digest }).nullable(),
  gate: z.exactOptional(z.literal('waiting')),
}) satisfies z.ZodType<ObservedRuntime>;

export const presenceState = z.enum(['warming', 'active', 'degraded', 'failed']);

export const presenceSchema = z.strictObject({
  header: headerSchema,
  target: name,
  incarnation,
  activation: word,
  state: presenceState,
  pid: z.int().positive(),
  epoch: epoch.nullable(),
  endpoint: endpoint.nullable(),
  stateSchema: word.nullable(),
  capabilities,
  detail: z.string().max(MAX_DETAIL_LENGTH),
}) satisfies z.ZodType<Presence>;

const MAX_DISAGREEMENTS = 16;

export const disagreementsSchema = z
  .array(
    z.strictObject({
      code: z.enum([
        'incarnation-mismatch',
        'runtime-identity-mismatch',
        'endpoint-mismatch',
        'schema-mismatch',
        'capability-mismatch',
        'executable-mismatch',
      ]),
      detail: z.string().max(4096),
    }),
  )
  .max(MAX_DISAGREEMENTS)
  .readonly();

const correlated = {
  header: headerSchema,
  incarnation,
  activation: word,
  epoch: epoch.nullable(),
  presenceSequence: z.int().positive(),
  presence: digest,
};

export const presentStatementSchema = z.strictObject({
  ...correlated,
  state: presenceState,
  fresh: z.boolean(),
  disagreements: disagreementsSchema,
}) satisfies z.ZodType<PresentStatement>;

export const readyReceiptSchema = z.strictObject(correlated) satisfies z.ZodType<ReadyReceipt>;
