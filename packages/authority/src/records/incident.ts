import { z } from 'zod';
import { INCIDENT_CODES } from '../model/incident-code.ts';
import { momentSchema, nameSchema } from './words.ts';

/** An open incident. It goes when its cause has ended; the history keeps when it opened and closed. */
export const incidentSchema = z.strictObject({
  schema: z.literal('idunn.incident/v1'),
  id: nameSchema,
  target: nameSchema,
  code: z.enum(INCIDENT_CODES),
  detail: z.string().max(65_536),
  openedAt: momentSchema,
  /** The notifiers were told of it, as many as there were. */
  told: z.boolean(),
});
export type IncidentRecord = z.infer<typeof incidentSchema>;

/** One cause is one incident, however often it is looked at. */
export const incidentKey = (target: string, code: string): string => `${target}:${code}`;
