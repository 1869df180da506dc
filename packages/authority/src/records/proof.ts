import { digestJson, envelopeSchema } from '@idunn/kernel';
import { z } from 'zod';
import { epochSchema, incarnationSchema, momentSchema, nameSchema } from './words.ts';

/** A receipt as the daemon heard it; bound to one launch and epoch. */
export const heldReceiptSchema = z.strictObject({
  receipt: nameSchema,
  activation: nameSchema,
  epoch: epochSchema.nullable(),
  /** Of the presence that the receipt rests on. */
  sequence: z.int().nonnegative(),
  observedAtMs: z.number(),
  envelope: envelopeSchema.exactOptional(),
});

/**
 * The Ready receipt that an activation was admitted on, kept for good: what the observer said then does not expire
 * because its speaker goes, and it proves itself by its signature (I4).
 */
export const readyProofSchema = z
  .strictObject({
    schema: z.literal('idunn.ready-proof/v1'),
    activation: nameSchema,
    target: nameSchema,
    incarnation: incarnationSchema,
    epoch: epochSchema.nullable(),
    /** The presence that the receipt rests on. */
    presenceSequence: z.int().nonnegative(),
    receipt: nameSchema,
    /** As the observer signed it; `null` where only its digest was told: at the bootstrap, or over a reconnection. */
    envelope: envelopeSchema.nullable(),
    transaction: nameSchema,
    at: momentSchema,
  })
  .refine(
    ({ receipt, envelope }) => envelope === null || digestJson(envelope) === receipt,
    'the envelope is not the one that the receipt names (I4)',
  );
export type ReadyProofRecord = z.infer<typeof readyProofSchema>;
