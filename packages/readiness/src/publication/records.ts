import { z } from 'zod';
import { MAX_ANCHOR_KEYS } from '../link/messages.ts';
import { activationSchema, expectedSchema, observedRuntimeSchema } from '../model/schemas.ts';
import { keyId, publicKey, word } from '../model/words.ts';

/** Most incarnations that one observer holds. */
export const MAX_INCARNATIONS = 8_192;
/** Most activations of one incarnation that may return; the oldest are spent. */
export const MAX_REPLACED = 16;
/** Most activations of one incarnation that are remembered as spent; the oldest are forgotten. */
export const MAX_SPENT = 256;

/** An incarnation by its key, `target@sha256:…`. A record under a bare target has no schema here and is never read. */
export const incarnationRecordSchema = z.strictObject({
  schema: z.literal('idunn.observed-incarnation/v1'),
  expected: expectedSchema,
  current: z.strictObject({ activation: activationSchema, observed: observedRuntimeSchema }).nullable(),
  /** Activations that another one took the place of: one may return, from where its presences were. Oldest first. */
  replaced: z.array(word).max(MAX_REPLACED).readonly(),
  /** Activations that were demoted: they are never current again (I5). Oldest first. */
  spent: z.array(word).max(MAX_SPENT).readonly(),
});
export type IncarnationRecord = Readonly<z.infer<typeof incarnationRecordSchema>>;

/** The keys that vouch for a target's workloads, newest first. */
export const anchorRecordSchema = z.strictObject({
  schema: z.literal('idunn.trust-anchor/v1'),
  keys: z.array(z.strictObject({ keyId, publicKey })).min(1).max(MAX_ANCHOR_KEYS).readonly(),
});
export type AnchorRecord = Readonly<z.infer<typeof anchorRecordSchema>>;
