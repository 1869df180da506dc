import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntryAnswer } from '@idunn/client';
import { renderHistory } from './history.ts';
import { styleOf } from './style.ts';
import { fit } from './table.ts';

const style = styleOf({ variable: () => undefined }, { write: () => true, terminal: false, columns: 80 });

const entry: HistoryEntryAnswer = {
  schema: 'idunn.history/v1',
  sequence: 7,
  previous: `sha256:${'0'.repeat(64)}`,
  digest: `sha256:${'1'.repeat(64)}`,
  kind: 'transaction.outcome',
  subject: 'ghostlight',
  actor: 'operator',
  tenant: 'local',
  atMs: 0,
  at: '1970-01-01T00:00:00.000Z',
  body: {
    durationMs: 465,
    note: null,
    outcome: 'aborted',
    refusal: { code: 'step-failed', detail: { log: ['one', 'two'] } },
    target: 'ghostlight',
    transaction: 'tx-1',
  },
};

test('a line of history begins with what it came to and why, and says nothing twice', () => {
  assert.deepEqual(renderHistory({ schema: 'idunn.history-view/v1', fleet: 'home', entries: [entry] }, style), [
    '7  1970-01-01T00:00:00.000Z  ghostlight  transaction.outcome  operator  ' +
      'outcome=aborted refusal=step-failed durationMs=465 transaction=tx-1',
  ]);
});

test('a line that is cut keeps its colours and ends them', () => {
  assert.equal(fit('plain words', 8), 'plain w…');
  assert.equal(fit('\u001b[2mdim words\u001b[22m', 5), '\u001b[2mdim …\u001b[22m');
  assert.equal(fit('\u001b[2mdim\u001b[22m', 5), '\u001b[2mdim\u001b[22m');
});
