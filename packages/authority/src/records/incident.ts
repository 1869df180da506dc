import { z } from 'zod';
import { INCIDENT_CODES } from '../model/incident-code.ts';
import { momentSchema, nameSchema } from './words.ts';

/**
 * An incident that is open, or that is over and whose end was not told to everybody yet. It goes with that; the history
 * keeps when it opened and closed.
 */
export const incidentSchema = z.strictObject({
  schema: z.literal('idunn.incident/v1'),
  id: nameSchema,
  target: nameSchema,
  code: z.enum(INCIDENT_CODES),
  detail: z.string().max(65_536),
  openedAt: momentSchema,
  /** The notifiers were told that it opened, as many as there were. */
  told: z.boolean(),
  /** Left out while it is open. */
  closedAt: z.exactOptional(momentSchema),
});
export type IncidentRecord = z.infer<typeof incidentSchema>;

/** One cause is one incident, however often it is looked at; one that is over is kept under its own id. */
export const incidentKey = (target: string, code: string): string => `${target}:${code}`;
