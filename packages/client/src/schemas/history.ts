import { z } from 'zod';
import { digest, instant } from './common.ts';

/** One entry of the append-only history as it is kept, with its instant beside it. Entries chain by digest. */
export const historyEntry = z.object({
  schema: z.literal('idunn.history/v1'),
  sequence: z.int(),
  at: instant,
  atMs: z.number(),
  kind: z.string(),
  subject: z.string(),
  actor: z.string(),
  tenant: z.string(),
  body: z.json(),
  previous: digest,
  /** SHA-256 over the RFC 8785 form of the entry without `digest` and `at`. */
  digest,
});

export const history = z.object({
  schema: z.literal('idunn.history-view/v1'),
  fleet: z.string(),
  /** Newest first. */
  entries: z.array(historyEntry),
});

export type HistoryEntryAnswer = z.infer<typeof historyEntry>;
export type History = z.infer<typeof history>;
