import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from './at-once.ts';

test('work is done at most so many at a time, each item once', async () => {
  let now = 0;
  let most = 0;
  const done: number[] = [];
  await atOnce(3, [1, 2, 3, 4, 5, 6, 7].values(), async (item) => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now -= 1;
    done.push(item);
  });
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].filter((item) => !done.includes(item)),
    [],
  );
  assert.equal(done.length, 7);
  assert.equal(most, 3);
});

test('F27: a failure begins nothing more and is thrown when nothing goes on any more', async () => {
  const slow = Promise.withResolvers<void>();
  const begun: number[] = [];
  let settled = false;
  const all = atOnce(2, [1, 2, 3, 4], async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('full');
    await slow.promise;
  }).finally(() => {
    settled = true;
  });
  await new Promise(setImmediate);
  assert.equal(settled, false);
  slow.resolve();
  await assert.rejects(all, /full/);
  assert.deepEqual(begun, [1, 2]);
});
