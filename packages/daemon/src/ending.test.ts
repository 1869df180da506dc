import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ending } from './ending.ts';

test('I6: a daemon whose disk hangs ends all the same, by force and within a limit', async () => {
  const done: string[] = [];
  const due: (() => void)[] = [];
  const disk = Promise.withResolvers<void>();
  const end = ending({
    timers: { after: (_, fire) => (due.push(fire), () => undefined) },
    stop: () => {
      done.push('stop');
      return disk.promise;
    },
    ended: () => done.push('ended'),
    force: (afterMs) => done.push(`force after ${afterMs} ms`),
  });
  end();
  end();
  assert.deepEqual(done, ['stop'], 'once');
  due[0]?.();
  assert.deepEqual(done, ['stop', 'force after 10000 ms']);
  disk.resolve();
  await disk.promise;
  assert.equal(done.at(-1), 'ended');
});
