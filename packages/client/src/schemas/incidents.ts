import { z } from 'zod';
import { instant } from './common.ts';

/** Every open incident of the fleet, the oldest first. */
export const incidents = z.object({
  schema: z.literal('idunn.incidents/v1'),
  fleet: z.string(),
  incidents: z.array(
    z.object({
      id: z.string(),
      code: z.string(),
      /** The target. */
      subject: z.string(),
      since: instant,
      detail: z.string(),
      remedy: z.string(),
      /** The notifiers have it. */
      told: z.boolean(),
    }),
  ),
});

export type Incidents = z.infer<typeof incidents>;
