import { type EngineApi, WHOLE_FLEET } from '@idunn/authority';
import type { HistoryEntry, RecordStore } from '@idunn/kernel';

/** Entries that are read at once while those of one transaction are picked out. */
const PAGE_ENTRIES = 500;

/** Newest first: of the whole fleet, of one subject, or of one transaction, whose entries stand under its target. */
export async function readHistory(
  store: Pick<RecordStore, 'history'>,
  engine: Pick<EngineApi, 'transaction'>,
  { subject, limit }: { subject?: string; limit: number },
): Promise<readonly HistoryEntry[]> {
  if (subject === undefined) return store.history({ limit, newestFirst: true });
  const transaction = await engine.transaction(subject);
  if (transaction === null) {
    // What stops the whole fleet stops this target: it is as much a part of its history.
    const both = await Promise.all(
      [...new Set([subject, WHOLE_FLEET])].map((one) => store.history({ limit, newestFirst: true, subject: one })),
    );
    return both
      .flat()
      .toSorted((a, b) => b.sequence - a.sequence)
      .slice(0, limit);
  }
  const found: HistoryEntry[] = [];
  let after: number | undefined;
  for (;;) {
    const page = await store.history({
      subject: transaction.target,
      limit: PAGE_ENTRIES,
      newestFirst: true,
      ...(after === undefined ? {} : { after }),
    });
    const own = page.filter(({ body }) => isOf(body, subject));
    found.push(...own);
    after = page.at(-1)?.sequence;
    const begun = own.some(({ kind }) => kind === 'command.accepted');
    if (begun || found.length >= limit || page.length < PAGE_ENTRIES) return found.slice(0, limit);
  }
}

const isOf = (body: HistoryEntry['body'], id: string): boolean => {
  if (typeof body !== 'object' || body === null) return false;
  const { transaction } = body as { transaction?: unknown };
  return transaction === id;
};
