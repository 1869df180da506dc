import { z } from 'zod';
import { bodySchema, launchSchema, subjectSchema } from './body.ts';
import { heldReceiptSchema } from './proof.ts';
import { epochSchema, momentSchema, nameSchema } from './words.ts';

/** Who the lease row names, under which epoch. */
export const standingSchema = z.strictObject({ epoch: epochSchema, activation: nameSchema.nullable() });
export type Standing = z.infer<typeof standingSchema>;

/** One intended move of the lease row; durable before the first store is touched. */
export const moveSchema = z.strictObject({ from: standingSchema, to: standingSchema });
export type Move = z.infer<typeof moveSchema>;

/**
 * The handover intent: one durable record that covers fence, grant and publication. Where the passage stands is never
 * written here; the lease row says it. The way back is the same passage in the other direction.
 */
export const passageSchema = z.strictObject({
  direction: z.enum(['forward', 'back']),
  /** Names the `relinquish`, so that it can be withdrawn after a crash. */
  requestId: nameSchema,
  successor: z.strictObject({ subject: subjectSchema, launch: launchSchema }),
  /** Launches of the successor that ended inside this passage. */
  spent: z.array(nameSchema).max(64).readonly(),
  relaunches: z.int().nonnegative(),
  /** When the launch at hand was made current inside this passage: from then on its first word is waited for. */
  launchedAt: momentSchema.exactOptional(),
  /** The last of those that the row named: while the next one is launched, it is what holds the lease. */
  held: bodySchema.exactOptional(),
  /** What the passage displaces, the one that writes first. */
  predecessors: z.array(bodySchema).max(8).readonly(),
  /** `null` for a target without state. */
  move: moveSchema.nullable(),
  /** The row as it stood at the intent; while it still reads so, nothing is fenced. */
  origin: standingSchema.nullable(),
  /** Activations that read the nonce back through their own connections and signed it. */
  echoed: z.array(nameSchema).max(64).readonly(),
  /** The Ready receipt that the route was published on, once that is recorded. */
  receipt: heldReceiptSchema.nullable().exactOptional(),
});
export type Passage = z.infer<typeof passageSchema>;
