import { z } from 'zod';
import { incarnationSchema, momentSchema, nameSchema, refusalSchema } from './words.ts';

/** Charged attempts that are remembered: enough to tell whether an hour saw too many. */
export const CHARGED_LIMIT = 6;
/**
 * Activations of restarts, and those that they took the place of, are remembered, so that what one of them left
 * projected is demoted by its own name.
 */
export const ISSUED_LIMIT = 16;

/** Continuity's own record of one target. When the next attempt is due follows from nothing else (I9). */
export const continuitySchema = z.strictObject({
  schema: z.literal('idunn.continuity/v1'),
  target: nameSchema,
  /** Charged attempts since the last long run. */
  streak: z.int().nonnegative(),
  /** The activation whose run was already judged: a long one forgives the streak once, when it is found dead. */
  assessed: nameSchema.nullable(),
  /** When it was first found dead with the target free; the wait counts from here. */
  anchor: momentSchema.nullable(),
  charged: z.array(momentSchema).max(CHARGED_LIMIT).readonly(),
  /** The admission that was brought back after a reboot without charge. */
  broughtBack: nameSchema.nullable(),
  /** Why the observer refused to demote what is projected; until it does nothing is launched. */
  deferral: refusalSchema.nullable(),
  /** Activations that restarts of this target issued or took the place of, the newest last. */
  issued: z.array(nameSchema).max(ISSUED_LIMIT).readonly(),
  /** An activation whose credential was minted ahead; never one that these records know to have been launched. */
  spare: z
    .strictObject({
      activation: nameSchema,
      incarnation: incarnationSchema,
      bootId: nameSchema,
      /** It goes, and is not launched any more: another release is admitted, or newer records launched it. */
      leaving: z.exactOptional(z.literal(true)),
    })
    .nullable(),
});
export type ContinuityRecord = z.infer<typeof continuitySchema>;

export const noContinuity = (target: string): ContinuityRecord => ({
  schema: 'idunn.continuity/v1',
  target,
  streak: 0,
  assessed: null,
  anchor: null,
  charged: [],
  broughtBack: null,
  deferral: null,
  issued: [],
  spare: null,
});
