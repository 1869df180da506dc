import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { follow, GENESIS } from '../src/event.js';
import { call, start, streamOf } from '../testing/world.js';

test('an event is kept once: 201, then 200 with the first answer', async (t) => {
  const { origin } = await start(t);
  const first = await call(origin, 'POST', '/events', { id: 'a', text: 'a light appears' });
  assert.equal(first.status, 201);
  const event = follow(GENESIS, { id: 'a', text: 'a light appears' }, first.value.epoch);
  assert.deepEqual(first.value, { seq: 1, id: 'a', hash: event.hash, epoch: event.epoch });
  const again = await call(origin, 'POST', '/events', { id: 'a', text: 'something else' });
  assert.deepEqual([again.status, again.value], [200, first.value]);
  const { seq, hash, epoch } = event;
  assert.deepEqual((await call(origin, 'GET', '/head')).value, { seq, hash, epoch });
});

test('many events at once: each is answered, numbered and chained, and pages give them back', async (t) => {
  const { origin } = await start(t);
  assert.deepEqual((await call(origin, 'GET', '/head')).value, GENESIS);
  assert.deepEqual((await call(origin, 'GET', '/events')).value, { events: [], next: null });
  const ids = Array.from({ length: 300 }, (_, index) => `e-${index}`);
  const answers = await Promise.all(ids.map((id) => call(origin, 'POST', '/events', { id, text: `text of ${id}` })));
  assert.ok(answers.every(({ status }) => status === 201));
  const events = [];
  for (let from = 1; from !== null; ) {
    const { value } = await call(origin, 'GET', `/events?from=${from}&limit=70`);
    events.push(...value.events);
    from = value.next;
  }
  assert.equal(events.length, ids.length);
  let head = GENESIS;
  for (const event of events) {
    assert.deepEqual(event, follow(head, event, event.epoch));
    head = event;
  }
  const kept = new Map(events.map((event) => [event.id, event]));
  for (const { value } of answers) assert.equal(kept.get(value.id)?.hash, value.hash);
});

test('what is no event is refused and leaves nothing', async (t) => {
  const { origin } = await start(t);
  const bodies = [
    '{',
    '7',
    'null',
    { id: '', text: 'x' },
    { id: 'x' },
    { id: 'x'.repeat(129), text: 'x' },
    '{"id":"\\ud800","text":""}',
  ];
  for (const body of bodies)
    assert.equal((await call(origin, 'POST', '/events', body)).status, 400, JSON.stringify(body));
  assert.equal((await call(origin, 'POST', '/events', { id: 'x', text: 'x'.repeat(40_000) })).status, 413);
  assert.equal((await call(origin, 'GET', '/events?from=0')).status, 400);
  assert.equal((await call(origin, 'GET', '/events?limit=1001')).status, 400);
  assert.equal((await call(origin, 'DELETE', '/events')).status, 404);
  assert.equal((await call(origin, 'GET', '/head')).value.seq, 0);
});

test('I1: while it may not write it answers 503 before effect, and reads go on', async (t) => {
  const { origin, journal } = await start(t);
  await call(origin, 'POST', '/events', { id: 'a', text: 'the first' });
  const newer = await start(t, journal); // Takes the lease of the same journal.
  const refused = await call(origin, 'POST', '/events', { id: 'b', text: 'the second' });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal(refused.headers.get('idunn-rejected'), 'before-effect');
  const kept = await call(newer.origin, 'POST', '/events', { id: 'b', text: 'the second' });
  assert.equal(kept.status, 201);
  assert.equal(kept.value.seq, 2);
  assert.equal(
    (await call(origin, 'GET', '/head')).value.hash,
    kept.value.hash,
    'the older one reads what the newer wrote',
  );
});

test('the stream resumes where a reader was, and goes on live', async (t) => {
  const { origin } = await start(t);
  for (const id of ['a', 'b', 'c']) await call(origin, 'POST', '/events', { id, text: id });
  const stream = streamOf(origin, '/stream', { 'Last-Event-ID': '1' });
  assert.equal((await stream.next()).value.id, 'b');
  assert.equal((await stream.next()).value.id, 'c');
  await call(origin, 'POST', '/events', { id: 'd', text: 'd' });
  assert.equal((await stream.next()).value.id, 'd');
  await stream.return();
});

test('who it is, and a page to look at', async (t) => {
  const { origin, child } = await start(t);
  const { value } = await call(origin, 'GET', '/version');
  assert.equal(value.pid, child.pid);
  for (const field of ['version', 'revision', 'incarnation']) assert.equal(typeof value[field], 'string');
  assert.equal((await call(origin, 'GET', '/healthz')).status, 200);
  assert.match((await call(origin, 'GET', '/')).value, /<title>Ghostlight/);
});

test('F25: SIGTERM ends it at once, with streams and idle connections open, the open request answered', async (t) => {
  const { origin, child } = await start(t);
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const idle = request(`${origin}/head`, { agent });
  idle.end();
  const [head] = await once(idle, 'response');
  head.resume();
  await once(head, 'end');
  const stream = streamOf(origin, '/stream?from=1');
  await call(origin, 'POST', '/events', { id: 'a', text: 'a' });
  await stream.next();
  const open = request(`${origin}/events`, { method: 'POST', agent: new Agent() });
  open.write('{"id":"b",');
  await once(open, 'socket');
  await new Promise((resolve) => setImmediate(resolve));
  await call(origin, 'GET', '/head'); // Now the half request has been read as well.

  const exited = once(child, 'exit');
  const asked = process.hrtime.bigint();
  child.kill('SIGTERM');
  assert.equal((await stream.next()).done, true);
  open.end('"text":"b"}');
  const [answered] = await once(open, 'response');
  assert.equal(answered.statusCode, 201);
  answered.resume();
  assert.deepEqual(await exited, [0, null]);
  const tookMs = (process.hrtime.bigint() - asked) / 1_000_000n;
  assert.ok(tookMs < 2_000n, `${tookMs} ms`);
});
