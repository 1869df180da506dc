import { z } from 'zod';
import { instant } from './common.ts';

/** One entry of the append-only history; entries chain by digest. */
export const historyEntry = z.object({
  sequence: z.int(),
  at: instant,
  kind: z.string(),
  subject: z.string(),
  actor: z.string(),
  tenant: z.string(),
  body: z.json(),
  previous: z.string(),
  digest: z.string(),
});

export const history = z.object({
  schema: z.literal('idunn.history/v1'),
  fleet: z.string(),
  /** Newest first. */
  entries: z.array(historyEntry),
});

export type HistoryEntryAnswer = z.infer<typeof historyEntry>;
export type History = z.infer<typeof history>;
