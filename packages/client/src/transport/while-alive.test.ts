import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whileAlive } from './while-alive.ts';

const everyMs = 5;
const never = (): Promise<never> => new Promise(() => undefined);

test('F2: a daemon that hangs is told as silent, and its question is given up', async () => {
  let given: AbortSignal | null = null;
  const answer = await whileAlive({
    beat: never,
    work: (signal) => {
      given = signal;
      return never();
    },
    silent: (silentMs) => `silent for ${silentMs} ms`,
    everyMs,
  });
  assert.equal(answer, 'silent for 10 ms');
  assert.equal((given as AbortSignal | null)?.aborted, true);
});

test('an answer that takes long is waited for while the daemon says anything at all', async () => {
  const answer = Promise.withResolvers<string>();
  let beats = 0;
  const waited = whileAlive({
    beat: async () => {
      beats += 1;
      if (beats === 3) answer.resolve('the plan');
    },
    work: () => answer.promise,
    silent: () => 'silent',
    everyMs,
  });
  assert.equal(await waited, 'the plan');
});
