import { z } from 'zod';

/** One activation that is attended, as the file keeps it. */
export const recordSchema = z.strictObject({
  activation: z.string().min(1).max(200),
  /** The activation directory, absolute. */
  directory: z.string().min(1).max(4_096),
  pid: z.int().positive(),
  /** Field 22 of /proc/PID/stat: with the pid it names one process of this boot (F12). */
  startTime: z.string().regex(/^[0-9]{1,20}$/),
  epoch: z.int().positive().nullable(),
  verdict: z.enum(['unproven', 'good', 'bad']),
});

export type AttendedRecord = z.infer<typeof recordSchema>;

export const bookSchema = z.strictObject({
  schema: z.literal('idunn.attended/v1'),
  fleet: z.string(),
  /** Activations of another boot are void. */
  bootId: z.string(),
  attended: z.array(recordSchema),
});
