import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../run.ts';
import { type Handler, RECEIPT, stage } from '../testing/stage.ts';

const REPEATED = { ...RECEIPT, repeated: true };

/** A daemon that dies with so many requests in its hands, and then answers. */
const dying = (times: number): Handler => {
  let left = times;
  return (request, response) => {
    if (left-- > 0) request.socket.destroy();
    else response.end(JSON.stringify(REPEATED));
  };
};

const atOnce = {
  after: (_ms: number, act: () => void) => {
    queueMicrotask(act);
    return () => undefined;
  },
};

test('I12: a daemon that dies before it answers is asked again, under the same operation id', async (t) => {
  const { environment, asked, err } = await stage(t, { 'POST /v1/commands': dying(3) });
  assert.equal(await run(environment(['up', 'ghostlight', '--detach'], atOnce)), 4);
  const ids = asked.map(({ body }) => (body as { operationId: string }).operationId);
  assert.deepEqual(ids, ['op-1', 'op-1', 'op-1', 'op-1']);
  assert.match(err.join(''), /went away before it answered/);
});

test('F2: it is asked for a minute, and the words that go on are told then', async (t) => {
  const { environment, err } = await stage(t, { 'POST /v1/commands': dying(1_000) });
  assert.equal(await run(environment(['up', 'ghostlight'], atOnce)), 1);
  assert.match(err.join(''), /daemon --detach.*--operation-id op-1: it is never run twice/);
});
