import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import type { RouteContract } from '@idunn/release';
import type { RouteMetrics } from './proxy/route.ts';
import { rejectBeforeEffect, startRawBackend } from './testing/backend.ts';
import { ask, wire } from './testing/client.ts';
import { startLoad } from './testing/load.ts';
import { contractOf, eventually, rig, value } from './testing/rig.ts';
import { signal } from './testing/signal.ts';

/** One router for all tests of this file; each has a route of its own. */
const router = await rig({ after });

let routes = 0;
const ownContract = (more: Partial<RouteContract> = {}): Promise<RouteContract> =>
  contractOf({ ...more, name: `route-${++routes}` });

async function metricsOf({ name }: RouteContract): Promise<RouteMetrics | undefined> {
  const metrics = await router.driver.metrics();
  return metrics.kind === 'seen' ? metrics.value.routes.find(({ route }) => route === name) : undefined;
}

test('F10: 30 switches under 64 clients, politely held, and no request fails', async (t) => {
  const { driver, backend, serve, event } = router;
  // As workloads do at a handover: the one that may not write rejects posts before effect.
  let writer = 'one';
  const backends = await Promise.all(
    ['one', 'two'].map((name) =>
      backend(name, (request, response) => {
        if (request.method === 'POST' && writer !== name) rejectBeforeEffect(response);
        else response.end(name);
      }),
    ),
  );
  const contract = await ownContract();
  await serve(
    contract,
    backends.slice(0, 1).map(({ member }) => member),
  );
  const load = startLoad(contract.listen.port, 64);
  t.after(load.stop);
  let longestHoldMs = 0;
  for (let round = 1; round <= 30; round++) {
    await load.turn(); // Nobody is on the way since the switch before, so no request meets two of them.
    const next = backends[round % 2];
    assert.ok(next);
    const staged = value(await driver.stage('web', contract, [next.member]));
    value(await driver.hold(contract.name, 2_000));
    writer = 'nobody';
    await new Promise((resolve) => setImmediate(resolve));
    writer = next.name;
    value(await driver.publish(staged));
    const report = await driver.switchReport(contract.name);
    assert.ok(report.kind === 'seen' && report.value.failed === 0);
    await event((told) => told.kind === 'durable' && told.route === contract.name && told.generation === round + 1);
    longestHoldMs = Math.max(longestHoldMs, report.value.longestHoldMs);
  }
  await load.turn();
  const { requests, failures, bodies } = await load.stop();
  assert.deepEqual(failures, []);
  assert.ok(requests >= 64 * 31 && (bodies.get('one') ?? 0) > 500 && (bodies.get('two') ?? 0) > 500);
  assert.ok(longestHoldMs > 0 && longestHoldMs < 250, `longest hold ${longestHoldMs} ms`);
  const state = await driver.read(contract.name);
  assert.ok(state.kind === 'seen' && state.value.generation === 31);
});

test('held requests go to the new member, in the order in which they came', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const one = await backend('one');
  const two = await backend('two');
  await serve(contract, [one.member]);
  const staged = value(await driver.stage('web', contract, [two.member]));
  value(await driver.hold(contract.name, 5_000));
  const asked: Promise<unknown>[] = [];
  for (let index = 0; index < 8; index++) {
    asked.push(ask(contract.listen.port, { path: `/${index}` }));
    await heldNow(contract, index + 1);
  }
  assert.equal(one.seen.length, 0);
  value(await driver.publish(staged));
  await Promise.all(asked);
  assert.deepEqual(
    two.seen.map(({ url }) => url).sort(),
    [0, 1, 2, 3, 4, 5, 6, 7].map((index) => `/${index}`),
  );
  assert.equal(two.seen[0]?.url, '/0');
  const report = await driver.switchReport(contract.name);
  assert.ok(report.kind === 'seen' && report.value.held === 8 && report.value.failed === 0);
});

test('connections to the coming member are made ahead, and a hold makes none twice', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const one = await backend('one');
  const two = await backend('two');
  await serve(contract, [one.member]);
  await Promise.all(Array.from({ length: 4 }, () => ask(contract.listen.port)));
  const connected = signal();
  let connections = 0;
  two.server.on('connection', () => ++connections === 1 && connected.tell());
  const staged = value(await driver.stage('web', contract, [two.member]));
  await connected.happened;
  value(await driver.hold(contract.name, 5_000));
  assert.equal(two.seen.length, 0);
  const made = connections;
  value(await driver.publish(staged));
  assert.equal((await ask(contract.listen.port)).body, 'two');
  assert.ok(connections <= Math.max(made, 4), `${connections} connections`);
});

test('a hold ends by itself at its term, towards what is served', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const one = await backend('one');
  await serve(contract, [one.member]);
  value(await driver.hold(contract.name, 60));
  const reply = await ask(contract.listen.port);
  assert.equal(reply.body, 'one');
  const report = await driver.switchReport(contract.name);
  assert.ok(report.kind === 'seen' && report.value.held === 1 && report.value.longestHoldMs >= 30);
});

test('a request is held no longer than the contract says in all, also when it is rejected after a hold', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract({ holdMs: 1_000 });
  const one = await backend('one', (_request, response) => rejectBeforeEffect(response));
  const two = await backend('two');
  await serve(contract, [one.member]);
  value(await driver.stage('web', contract, [two.member]));
  value(await driver.hold(contract.name, 800));
  const reply = await ask(contract.listen.port, { method: 'POST', body: Buffer.from('a write') });
  assert.deepEqual([reply.status, reply.headers['retry-after']], [503, '1'], 'the rejection itself');
  assert.equal(one.seen.length, 1);
  const report = await driver.switchReport(contract.name);
  assert.ok(report.kind === 'seen' && report.value.longestHoldMs >= 900 && report.value.longestHoldMs < 1_500);
});

test('release lets held requests go to what is served', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  await serve(contract, [(await backend('one')).member]);
  value(await driver.hold(contract.name, 60_000));
  const reply = ask(contract.listen.port);
  await heldNow(contract, 1);
  value(await driver.release(contract.name));
  assert.equal((await reply).body, 'one');
});

for (const { limit, contract: more, code, held } of [
  { limit: 'time', contract: { holdMs: 40 }, code: 'request-hold-expired', held: 1 },
  { limit: 'count', contract: { holdRequests: 0 }, code: 'request-hold-full', held: 0 },
  { limit: 'bytes', contract: { holdBytes: 60_000 }, code: 'request-hold-full', held: 0 },
] as const) {
  test(`the limit of ${limit} of a hold answers 503 with Retry-After and the reason`, async () => {
    const { driver, backend, serve } = router;
    const contract = await ownContract(more);
    const one = await backend('one');
    await serve(contract, [one.member]);
    value(await driver.hold(contract.name, 60_000));
    const reply = await ask(contract.listen.port, { method: 'POST', body: Buffer.alloc(61_000) });
    assert.equal(reply.status, 503);
    assert.equal(reply.headers['retry-after'], '1');
    assert.equal((JSON.parse(reply.body) as { code: string }).code, code);
    assert.equal(one.seen.length, 0);
    const report = await driver.switchReport(contract.name);
    assert.deepEqual(report.kind === 'seen' && [report.value.held, report.value.failed], [held, 1]);
  });
}

test('the body of a held request is not read beyond the socket and stream buffers', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const one = await backend('one', (_request, response, body) => response.end(String(body.length)));
  await serve(contract, [one.member]);
  value(await driver.hold(contract.name, 60_000));
  const size = 64 * 1_048_576;
  const client = await wire(contract.listen.port);
  client.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`);
  client.socket.write(Buffer.alloc(size));
  await heldNow(contract, 1);
  const metrics = await metricsOf(contract);
  assert.ok((metrics?.keptBytes ?? 0) > 60_000 && (metrics?.keptBytes ?? 0) <= 70_000);
  const written = client.socket.bytesWritten - client.socket.writableLength;
  assert.ok(written < size / 4, `${written} bytes were taken while the request was held`);
  value(await driver.release(contract.name));
  assert.match(await client.ended(), new RegExp(`${size}$`));
});

test('a client that leaves while it is held is forgotten', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const one = await backend('one');
  await serve(contract, [one.member]);
  value(await driver.hold(contract.name, 60_000));
  const client = await wire(contract.listen.port);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await heldNow(contract, 1);
  client.socket.destroy();
  await heldNow(contract, 0);
  value(await driver.release(contract.name));
  assert.equal(one.seen.length, 0);
});

test('a request rejected before effect goes once more to the new member, its body kept', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const rejected = signal();
  const one = await backend('one', (_request, response) => {
    rejectBeforeEffect(response);
    rejected.tell();
  });
  const two = await backend('two', (_request, response, body) => response.end(`two ${body.length}`));
  await serve(contract, [one.member]);
  const staged = value(await driver.stage('web', contract, [two.member]));
  const reply = ask(contract.listen.port, { method: 'POST', body: Buffer.alloc(200_000) });
  await rejected.happened;
  value(await driver.publish(staged));
  assert.deepEqual([(await reply).status, (await reply).body], [200, 'two 200000']);
});

test('a request that the departed member rejects after the switch goes to the new one at once', async () => {
  const { backend, serve } = router;
  const contract = await ownContract();
  const arrived = signal<ServerResponse>();
  const one = await backend('one', (_request, response) => arrived.tell(response));
  const two = await backend('two', (_request, response, body) => response.end(`two ${body.toString()}`));
  await serve(contract, [one.member]);
  const reply = ask(contract.listen.port, { method: 'POST', body: 'hello' });
  const response = await arrived.happened;
  await serve(contract, [two.member]);
  rejectBeforeEffect(response);
  assert.equal((await reply).body, 'two hello');
});

test('a request is never sent a third time, even when another switch is under way', { timeout: 20_000 }, async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const again = signal<ServerResponse>();
  const one = await backend('one', (_request, response) => rejectBeforeEffect(response));
  const two = await backend('two', (_request, response) => again.tell(response));
  await serve(contract, [one.member]);
  const staged = value(await driver.stage('web', contract, [two.member]));
  const reply = ask(contract.listen.port, { method: 'POST', body: 'hello' });
  await heldNow(contract, 1);
  value(await driver.publish(staged));
  const response = await again.happened;
  value(await driver.hold(contract.name, 5_000));
  rejectBeforeEffect(response);
  const { status, headers, body } = await reply;
  assert.deepEqual([status, headers['idunn-rejected'], body], [503, 'before-effect', 'not the writer']);
  const report = await driver.switchReport(contract.name);
  assert.deepEqual(report.kind === 'seen' && [report.value.held, report.value.failed], [0, 1]);
  assert.deepEqual([one.seen.length, two.seen.length], [1, 1]);
});

test('beyond the limit of what is kept, the rejection passes through and is not sent again', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const one = await backend('one', (_request, response) => rejectBeforeEffect(response));
  const two = await backend('two');
  await serve(contract, [one.member]);
  value(await driver.stage('web', contract, [two.member]));
  const big = await ask(contract.listen.port, { method: 'POST', body: Buffer.alloc(262_145) });
  assert.deepEqual([big.status, big.headers['idunn-rejected'], big.body], [503, 'before-effect', 'not the writer']);
  assert.equal(one.seen.length, 1);
});

test('the bytes of a route limit what is kept of all its requests together', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract({ holdBytes: 10_000 });
  const one = await backend('one', (_request, response) => rejectBeforeEffect(response));
  await serve(contract, [one.member]);
  value(await driver.stage('web', contract, [one.member]));
  const reply = await ask(contract.listen.port, { method: 'POST', body: Buffer.alloc(10_001) });
  assert.deepEqual([reply.status, one.seen.length], [503, 1]);
  assert.equal((await metricsOf(contract))?.keptBytes, 0);
});

test('a rejection that no switch follows passes through after a short wait', async () => {
  const { backend, serve } = router;
  const contract = await ownContract();
  const one = await backend('one', (_request, response) => rejectBeforeEffect(response));
  await serve(contract, [one.member]);
  const reply = await ask(contract.listen.port, { method: 'POST', body: 'hello' });
  assert.deepEqual([reply.status, reply.headers['idunn-rejected'], one.seen.length], [503, 'before-effect', 1]);
});

test('F10, F25: a stream stays on the old member through a switch; waits end with it', async (t) => {
  const { driver, backend, serve, event } = router;
  const contract = await ownContract();
  const streaming = signal<ServerResponse>();
  const one = await startRawBackend('one', (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('data: first\n\n');
    streaming.tell(response);
  });
  t.after(() => one.close());
  const two = await backend('two');
  await serve(contract, [one.member]);
  const client = await wire(contract.listen.port);
  client.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');
  await client.until('data: first');
  await serve(contract, [two.member]);
  assert.equal((await ask(contract.listen.port)).body, 'two');
  assert.deepEqual(await driver.open(contract.name, one.member.incarnation), { kind: 'seen', value: 1 });
  const response = await streaming.happened;
  response.write('data: second\n\n');
  await client.until('data: second');
  assert.deepEqual(await driver.drain(contract.name, one.member.incarnation, 60_000), { kind: 'seen', value: 1 });
  response.end();
  await event((told) => told.kind === 'drained' && told.route === contract.name);
  assert.deepEqual(await driver.open(contract.name, one.member.incarnation), { kind: 'seen', value: 0 });
  // The client's connection is tied to no member: the next request on it meets the new one.
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.match(await client.ended(), /two$/);
});

test('F10: what is still open at the end of the drain is closed, an event stream whole', async (t) => {
  const { driver, backend, serve, event } = router;
  const contract = await ownContract();
  const one = await startRawBackend('one', (request, response) => {
    if (request.url === '/stream') response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    if (request.url === '/part') response.writeHead(200, { 'Content-Length': '100' });
    if (request.url !== '/silent') response.write('begun');
  });
  t.after(() => one.close());
  await serve(contract, [one.member]);
  const clients = await Promise.all([
    wire(contract.listen.port),
    wire(contract.listen.port),
    wire(contract.listen.port),
  ]);
  const [stream, part, silent] = clients;
  stream?.write('GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  part?.write('GET /part HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  silent?.write('GET /silent HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await Promise.all([stream?.until('begun'), part?.until('begun'), openNow(contract, 3)]);
  await serve(contract, [(await backend('two')).member]);
  assert.deepEqual(await driver.drain(contract.name, one.member.incarnation, 30), { kind: 'seen', value: 3 });
  await event((told) => told.kind === 'drained' && told.route === contract.name);
  assert.match((await stream?.ended()) ?? '', /0\r\n\r\n$/);
  assert.match((await part?.ended()) ?? '', /begun$/);
  assert.match((await silent?.ended()) ?? '', /503 Service Unavailable[^]*request-cut-at-drain/);
});

async function heldNow(contract: RouteContract, count: number): Promise<void> {
  await eventually(`${count} are held`, async () => (await metricsOf(contract))?.heldNow === count);
}

async function openNow(contract: RouteContract, count: number): Promise<void> {
  await eventually(`${count} are open`, async () => (await metricsOf(contract))?.members[0]?.open === count);
}
