import { z } from 'zod';
import { instant } from './common.ts';

/** Incidents of the fleet or of one target: those that are over first, then the open ones, each the oldest first. */
export const incidents = z.object({
  schema: z.literal('idunn.incidents/v1'),
  fleet: z.string(),
  incidents: z.array(
    z.object({
      id: z.string(),
      code: z.string(),
      /** The target; `_fleet` of what concerns all of them. */
      subject: z.string(),
      since: instant,
      /** `null`: it is open. */
      closedAt: instant.nullable(),
      detail: z.string(),
      remedy: z.string(),
      /** The notifiers have it. */
      told: z.boolean(),
    }),
  ),
});

export type Incidents = z.infer<typeof incidents>;
