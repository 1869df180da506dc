import { createHash } from 'node:crypto';
import { canonicalJson } from '@idunn/kernel';
import type { Acked } from './load.ts';

/** An event as ghostlight's journal holds it. */
export interface JournalEvent extends Acked {
  readonly text: string;
}

export interface Verdict {
  readonly events: number;
  /** Acknowledged writes that the journal does not hold as acknowledged. */
  readonly lost: number;
  /** Ids that stand in the journal more than once. */
  readonly doubled: number;
  readonly chainIntact: boolean;
  /** Epochs never fall along the journal: no old epoch wrote after a newer one had. */
  readonly epochsRise: boolean;
  readonly epochs: number;
}

/** Holds the journal, read back whole, against what the clients were told. Recomputes the chain by itself. */
export function judge(journal: readonly JournalEvent[], acked: readonly Acked[]): Verdict {
  const byId = new Map<string, JournalEvent>();
  let doubled = 0;
  let chainIntact = true;
  let epochsRise = true;
  let before = { seq: 0, hash: `sha256:${'0'.repeat(64)}`, epoch: 0 };
  for (const event of journal) {
    if (byId.has(event.id)) doubled += 1;
    byId.set(event.id, event);
    if (event.seq !== before.seq + 1 || event.hash !== hashOf(before.hash, event)) chainIntact = false;
    if (event.epoch < before.epoch) epochsRise = false;
    before = event;
  }
  const lost = acked.filter(({ id, seq, hash, epoch }) => {
    const event = byId.get(id);
    return event === undefined || event.seq !== seq || event.hash !== hash || event.epoch !== epoch;
  }).length;
  const epochs = new Set(journal.map(({ epoch }) => epoch)).size;
  return { events: journal.length, lost, doubled, chainIntact, epochsRise, epochs };
}

const hashOf = (previous: string, { seq, id, text, epoch }: JournalEvent): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson([previous, seq, id, text, epoch]))
    .digest('hex')}`;
