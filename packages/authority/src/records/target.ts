import { z } from 'zod';
import { bodySchema } from './body.ts';
import { digestSchema, epochSchema, momentSchema, nameSchema, requesterShape } from './words.ts';

/** Commands that may wait behind the one at work, per target (F24). */
export const QUEUE_LIMIT = 16;
/** Displaced processes that may still be leaving while the next deployment goes on (F10). */
export const DRAINING_LIMIT = 4;
/** Releases remembered per target for retention; the binding's `retain` narrows it (F4). */
export const RETAINED_LIMIT = 64;

export const admittedSchema = z.strictObject({
  ...bodySchema.shape,
  transaction: nameSchema,
  admittedAt: momentSchema,
  /** When this very process was seen to be what lease and route name; a long run forgives earlier restarts. */
  runningSince: momentSchema,
});
export type Admitted = z.infer<typeof admittedSchema>;

/** The engine's own word about one target. What is desired is the catalogue's. */
export const targetSchema = z.strictObject({
  schema: z.literal('idunn.target/v1'),
  target: nameSchema,
  instance: nameSchema,
  machine: nameSchema,
  admitted: admittedSchema.nullable(),
  /** Holds the lease though it was never admitted: a deployment that neither finished nor could return left it. */
  stranded: bodySchema.nullable(),
  /** A deployment from its handover intent on, or a restart from its begin; one compare-and-swap takes the target. */
  takenBy: nameSchema.nullable(),
  /** The restart that continuity has under way, until nothing is left of it or its process is admitted. */
  restart: nameSchema.nullable(),
  /** A deployment that is ready to take the target from a restart: one that cannot prove its route gives way (F22). */
  awaitedBy: nameSchema.nullable(),
  /** The highest epoch that any intent of this target named. */
  highestEpoch: epochSchema,
  /** Oldest first; the first one is at work. */
  queue: z
    .array(nameSchema)
    .max(QUEUE_LIMIT + 1)
    .readonly(),
  draining: z
    .array(nameSchema)
    .max(DRAINING_LIMIT + 1)
    .readonly(),
  retained: z.array(digestSchema).max(RETAINED_LIMIT).readonly(),
});
export type TargetRecord = z.infer<typeof targetSchema>;

/** What people ask of a target. */
export const desiredSchema = z.strictObject({
  schema: z.literal('idunn.desired/v1'),
  target: nameSchema,
  desired: z.enum(['up', 'down']),
  ref: nameSchema.nullable(),
  operation: nameSchema,
  ...requesterShape,
  at: momentSchema,
});
export type DesiredRecord = z.infer<typeof desiredSchema>;
