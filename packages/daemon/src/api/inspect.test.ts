import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeEngine, fakeParts, INCARNATION } from '../testing/fake-parts.ts';
import { inspect } from './inspect.ts';

test('the short words of status are enough to inspect what they stand for', async () => {
  const parts = fakeParts(new FakeEngine());
  const found = async (word: string): Promise<unknown> => {
    const answer = await inspect(parts, word);
    return answer.ok ? [answer.value.kind, answer.value.id] : answer.refusal.code;
  };
  assert.deepEqual(await found('a'.repeat(12)), ['incarnation', INCARNATION]);
  assert.deepEqual(await found(`sha256:${'a'.repeat(12)}`), ['incarnation', INCARNATION]);
  assert.deepEqual(await found('a'.repeat(7)), 'subject-unknown', 'too few to be sure of');
  assert.deepEqual(await found('f'.repeat(12)), 'subject-unknown');
});
