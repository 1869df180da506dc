import { z } from 'zod';
import { DIGEST_PATTERN, type Digest, digestJson } from '../digest.ts';
import { type HistoryDraft, type HistoryEntry, StoreFault } from './port.ts';

/** The end of the chain: what the next entry links to. */
export interface HistoryHead {
  readonly sequence: number;
  readonly digest: Digest;
}

/** The head of an empty history. */
export const EMPTY_HISTORY: HistoryHead = { sequence: 0, digest: `sha256:${'0'.repeat(64)}` };

const digest = z.custom<Digest>((value) => typeof value === 'string' && DIGEST_PATTERN.test(value));

export const historyEntrySchema = z.strictObject({
  schema: z.literal('idunn.history/v1'),
  sequence: z.int().positive(),
  previous: digest,
  digest,
  kind: z.string().min(1),
  subject: z.string(),
  actor: z.string(),
  tenant: z.string(),
  atMs: z.number(),
  body: z.json(),
});

/** The entry that `draft` becomes behind `head`. */
export function chained(head: HistoryHead, draft: HistoryDraft): HistoryEntry {
  const entry = {
    schema: 'idunn.history/v1',
    sequence: head.sequence + 1,
    previous: head.digest,
    kind: draft.kind,
    subject: draft.subject,
    actor: draft.actor,
    tenant: draft.tenant,
    atMs: draft.atMs,
    body: draft.body,
  } as const;
  return { ...entry, digest: digestJson(entry) };
}

/** Reads an entry back and holds it against its own digest. Throws `StoreFault` when they differ. */
export function readEntry(text: string, sequence: number): HistoryEntry {
  const entry = parsedEntry(text, sequence);
  const { digest: stated, ...rest } = entry;
  if (entry.sequence !== sequence || digestJson(rest) !== stated) {
    throw new StoreFault('store-unreadable', `History entry ${sequence} is not the one that was written.`);
  }
  return entry;
}

/** The head behind `entry`, if it follows `head` without a gap. Throws `StoreFault` when it does not. */
export function following(head: HistoryHead, entry: HistoryEntry): HistoryHead {
  if (entry.sequence !== head.sequence + 1 || entry.previous !== head.digest) {
    throw new StoreFault('store-unreadable', `The history is broken behind entry ${head.sequence}.`);
  }
  return { sequence: entry.sequence, digest: entry.digest };
}

function parsedEntry(text: string, sequence: number): HistoryEntry {
  try {
    return historyEntrySchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new StoreFault('store-unreadable', `History entry ${sequence} cannot be read.`, { cause });
  }
}
