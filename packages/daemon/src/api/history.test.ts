import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry } from '@idunn/kernel';
import { FakeEngine, transactionView } from '../testing/fake-parts.ts';
import { readHistory } from './history.ts';

type Asked = { subject?: string; after?: number; limit?: number };

/** 1,200 entries of one target, the transaction's own at 3 (its start), 4 and 1,199. */
const entries = Array.from({ length: 1_200 }, (_, index) => {
  const sequence = index + 1;
  const own = [3, 4, 1_199].includes(sequence);
  return {
    sequence,
    subject: 'ghostlight',
    kind: sequence === 3 ? 'command.accepted' : 'transaction.phase',
    body: { transaction: own ? transactionView.id : 'tx-other' },
  } as unknown as HistoryEntry;
});

const store = {
  history: ({ subject, after = Number.POSITIVE_INFINITY, limit = 100 }: Asked = {}) =>
    Promise.resolve(
      entries
        .filter((entry) => (subject === undefined || entry.subject === subject) && entry.sequence < after)
        .toReversed()
        .slice(0, limit),
    ),
};
const sequences = async (subject: string | undefined, limit: number): Promise<number[]> => {
  const asked = subject === undefined ? { limit } : { subject, limit };
  return (await readHistory(store, new FakeEngine(), asked)).map(({ sequence }) => sequence);
};

test('the history of a transaction is picked out of its target’s, down to its first entry', async () => {
  assert.deepEqual(await sequences(transactionView.id, 100), [1_199, 4, 3]);
  assert.deepEqual(await sequences(transactionView.id, 2), [1_199, 4]);
});

test('of a target or the fleet the newest are told, and of nothing nothing', async () => {
  assert.deepEqual(await sequences('ghostlight', 2), [1_200, 1_199]);
  assert.deepEqual(await sequences(undefined, 1), [1_200]);
  assert.deepEqual(await sequences('nothing', 5), []);
});
