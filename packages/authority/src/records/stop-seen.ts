import { z } from 'zod';
import { digestSchema, momentSchema, nameSchema } from './words.ts';

/** A freeze or hold as it was last seen: what a later look differs from is a change for the history. */
export const stopSeenSchema = z.strictObject({
  schema: z.literal('idunn.stop-seen/v1'),
  kind: z.enum(['freeze', 'hold']),
  target: nameSchema,
  /** The login that the binding names; `null`: the fleet's own. */
  steward: nameSchema.nullable(),
  state: z.enum(['engaged', 'clear', 'unreadable']),
  /** Digest of the record's exact bytes, and the verbs that it counted; `null` of one that cannot be read. */
  record: digestSchema.nullable(),
  sequence: z.int().positive().nullable(),
  seenAt: momentSchema,
});
export type StopSeen = z.infer<typeof stopSeenSchema>;
