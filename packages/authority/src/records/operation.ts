import { z } from 'zod';
import { digestSchema, epochSchema, momentSchema, nameSchema, requesterShape } from './words.ts';

/** The durable answer to one command (I12). Its generation is the state version that it was accepted at. */
export const operationSchema = z.strictObject({
  schema: z.literal('idunn.operation/v1'),
  operation: nameSchema,
  target: nameSchema,
  ...requesterShape,
  /** The normalized request; another one under the same id is a conflict. */
  request: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('up'), ref: nameSchema.nullable() }),
    z.strictObject({ kind: z.literal('takeover'), confirm: nameSchema }),
    z.strictObject({ kind: z.literal('restart') }),
    z.strictObject({ kind: z.enum(['cancel', 'expire']), transaction: nameSchema }),
  ]),
  transaction: nameSchema,
  ahead: z
    .array(z.strictObject({ transaction: nameSchema, actor: nameSchema, phase: nameSchema }))
    .max(64)
    .readonly(),
  at: momentSchema,
});
export type OperationRecord = z.infer<typeof operationSchema>;

/** The operator's typed consent to take over the state of another fleet; spent by the handover intent that uses it. */
export const takeoverSchema = z.strictObject({
  schema: z.literal('idunn.takeover/v1'),
  target: nameSchema,
  ...requesterShape,
  /** The foreign claim as it was read; another one needs another consent. */
  claim: z.strictObject({ fleet: nameSchema, target: nameSchema, stateId: nameSchema, highestEpoch: epochSchema }),
  transaction: nameSchema,
  at: momentSchema,
});
export type TakeoverRecord = z.infer<typeof takeoverSchema>;

/**
 * Whoever stood in a target's way and no record knew, ended and seen gone by an operator's takeover: from then on it
 * counts as a launch of ours, held to the same proof that nothing of it lives (I1).
 */
export const setAsideSchema = z.strictObject({
  schema: z.literal('idunn.set-aside/v1'),
  activation: nameSchema,
  target: nameSchema,
  ...requesterShape,
  /** Under which the lease row named it; `null` for one that only ran. */
  epoch: epochSchema.nullable(),
  transaction: nameSchema,
  at: momentSchema,
});
export type SetAsideRecord = z.infer<typeof setAsideSchema>;

/** One launch that this authority ever issued: a row that names another one names a stranger. */
export const activationSchema = z.strictObject({
  schema: z.literal('idunn.issued-activation/v1'),
  activation: nameSchema,
  target: nameSchema,
  incarnation: nameSchema,
  release: digestSchema,
  transaction: nameSchema,
  at: momentSchema,
});
export type ActivationRecord = z.infer<typeof activationSchema>;
