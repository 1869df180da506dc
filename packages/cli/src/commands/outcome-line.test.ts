import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeLine } from '@idunn/client/schemas';
import { run } from '../run.ts';
import { RECEIPT, refuseWith, stage } from '../testing/stage.ts';

test('I10: what nobody measured is null in the last line of up, never zero', async (t) => {
  const refusal = { code: 'target-unknown', reason: 'no such target', remedy: 'Run idunn status.' };
  const cases = [
    { words: ['up', 'ghostlight', '--detach'], answer: RECEIPT, outcome: 'waiting', target: 'ghostlight', code: 4 },
    { words: ['up', 'ghostlight'], answer: refuseWith(refusal), outcome: 'rejected', target: 'ghostlight', code: 3 },
    { words: ['expire', 'tx-1'], answer: refuseWith(refusal), outcome: 'rejected', target: null, code: 3 },
  ];
  for (const { answer, words, code, ...wanted } of cases) {
    const { environment, out } = await stage(t, { 'POST /v1/commands': answer });
    assert.equal(await run(environment([...words, '--json'])), code);
    const printed: unknown = JSON.parse(out.at(-1) ?? '');
    const line = outcomeLine.parse(printed);
    assert.deepEqual(line, printed, 'it is documented');
    const { outcome, target, transaction, durationMs, ownMs, writeGapMs, requests } = line;
    assert.deepEqual({ outcome, target }, wanted);
    assert.equal(transaction, outcome === 'waiting' ? 'tx-1' : null);
    assert.deepEqual([durationMs, ownMs, writeGapMs, requests], [null, null, null, null]);
  }
});
