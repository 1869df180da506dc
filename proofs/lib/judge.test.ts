import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type JournalEvent, judge } from './judge.ts';

function chain(epochs: readonly number[]): JournalEvent[] {
  let previous = `sha256:${'0'.repeat(64)}`;
  return epochs.map((epoch, index) => {
    const seq = index + 1;
    const [id, text] = [`e${seq}`, 'a light'];
    const hash = `sha256:${createHash('sha256')
      .update(JSON.stringify([previous, seq, id, text, epoch]))
      .digest('hex')}`;
    previous = hash;
    return { seq, id, text, epoch, hash };
  });
}

test('a whole journal is judged whole', () => {
  const journal = chain([1, 1, 2]);
  assert.deepEqual(judge(journal, journal), {
    events: 3,
    lost: 0,
    doubled: 0,
    chainIntact: true,
    epochsRise: true,
    epochs: 2,
  });
});

test('a lost, a doubled, a broken and a late write of an old epoch are each seen', () => {
  const journal = chain([1, 1, 2]);
  const [first] = journal;
  assert.ok(first);
  assert.equal(judge(journal.slice(0, 2), journal).lost, 1);
  assert.equal(judge(journal, [{ ...first, epoch: 9 }]).lost, 1);
  assert.equal(judge([...journal, first], []).doubled, 1);
  assert.equal(judge([{ ...first, text: 'another' }, ...journal.slice(1)], []).chainIntact, false);
  assert.equal(judge(chain([1, 2, 1]), []).epochsRise, false);
});
