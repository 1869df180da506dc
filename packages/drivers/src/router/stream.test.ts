import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { RouteContract } from '@idunn/release';
import { memberAt } from './testing/backend.ts';
import { wire } from './testing/client.ts';
import { contractOf, eventually, freePort, rig, value } from './testing/rig.ts';
import { signal } from './testing/signal.ts';
import { startStreamBackend } from './testing/tcp-backend.ts';

/** One router for all tests of this file; each has a route of its own. */
const router = await rig({ after });

let routes = 0;
const ownContract = (more: Partial<RouteContract> = {}): Promise<RouteContract> =>
  contractOf({ protocol: 'tcp', ...more, name: `route-${++routes}` });

async function metricsOf({ name }: RouteContract) {
  const metrics = await router.driver.metrics();
  return metrics.kind === 'seen' ? metrics.value.routes.find(({ route }) => route === name) : undefined;
}

/** A connection is reset without a byte, be it while it is made or just after. */
async function isReset({ listen }: RouteContract): Promise<void> {
  const socket = connect(listen.port, listen.host);
  socket.on('data', (data) => assert.fail(`it said ${data.toString()}`));
  const why = await new Promise<NodeJS.ErrnoException>((resolve) => socket.once('error', resolve));
  assert.equal(why.code, 'ECONNRESET');
}

/** Says its name to whoever comes, and then says everything back; ends when its client does. */
const echo =
  (name: string) =>
  (socket: Socket): void => {
    socket.write(`${name}>`);
    socket.pipe(socket);
  };

test('a stream stays on its member through a switch, new ones go to the new member', async (t) => {
  const { serve } = router;
  const contract = await ownContract();
  const one = await startStreamBackend(t, 'one', echo('one'));
  const two = await startStreamBackend(t, 'two', echo('two'));
  await serve(contract, [one.member]);
  const old = await wire(contract.listen.port);
  await old.until('one>');
  await serve(contract, [two.member]);
  const young = await wire(contract.listen.port);
  await young.until('two>');
  old.write('still here');
  await old.until('still here');
  young.socket.end();
  assert.equal(await young.ended(), 'two>');
  old.socket.end('bye');
  assert.equal(await old.ended(), 'one>still herebye');
  await router.event((event) => event.kind === 'drained' && event.activation === one.member.activation);
});

test('connections that come during a hold are accepted, wait, and go to the new member', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const one = await startStreamBackend(t, 'one', echo('one'));
  const two = await startStreamBackend(t, 'two', echo('two'));
  await serve(contract, [one.member]);
  const staged = value(await driver.stage('web', contract, [two.member]));
  value(await driver.hold(contract.name, 5_000));
  const held = await Promise.all([wire(contract.listen.port), wire(contract.listen.port)]);
  for (const each of held) each.write('early');
  await eventually('both are held', async () => (await metricsOf(contract))?.heldNow === 2);
  assert.deepEqual([one.sockets.length, two.sockets.length], [0, 0]);
  value(await driver.publish(staged));
  for (const each of held) {
    await each.until('two>early');
    each.socket.end();
  }
  const report = await driver.switchReport(contract.name);
  assert.deepEqual(report.kind === 'seen' && [report.value.held, report.value.failed], [2, 0]);
});

test('beyond the limits of a hold a connection is reset, never left open', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract({ holdRequests: 1, holdMs: 200 });
  const one = await startStreamBackend(t, 'one', echo('one'));
  await serve(contract, [one.member]);
  value(await driver.hold(contract.name, 60_000));
  const first = await wire(contract.listen.port);
  await eventually('one is held', async () => (await metricsOf(contract))?.heldNow === 1);
  await isReset(contract);
  assert.equal(await first.ended(), '');
  const report = await driver.switchReport(contract.name);
  assert.deepEqual(report.kind === 'seen' && [report.value.held, report.value.failed], [1, 2]);
  assert.equal(one.sockets.length, 0);
});

test('F10: at a drain’s end the backend is told, finishes, and its end is passed on; then it is cut', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const polite = await startStreamBackend(t, 'polite', (socket) => {
    socket.write('ready');
    socket.on('end', () => socket.end(' and done'));
    socket.resume();
  });
  await serve(contract, [polite.member]);
  const told = await wire(contract.listen.port);
  await told.until('ready');
  const deaf = await startStreamBackend(t, 'deaf', (socket) => socket.write('deaf'));
  await serve(contract, [deaf.member]);
  await driver.drain(contract.name, polite.member.incarnation, 60);
  assert.equal(await told.ended(), 'ready and done');
  const cut = await wire(contract.listen.port);
  await cut.until('deaf');
  await serve(contract, [polite.member]);
  await driver.drain(contract.name, deaf.member.incarnation, 60);
  assert.equal(await cut.ended(), 'deaf');
  await router.event((event) => event.kind === 'drained' && event.activation === deaf.member.activation);
});

test('F14: a stream to a member that has died waits for the switch that is under way; else it is reset', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const dead = memberAt('dead', await freePort());
  const alive = await startStreamBackend(t, 'alive', echo('alive'));
  await serve(contract, [dead]);
  await isReset(contract);
  const staged = value(await driver.stage('web', contract, [alive.member]));
  const client = await wire(contract.listen.port);
  await eventually('it is held', async () => (await metricsOf(contract))?.heldNow === 1);
  value(await driver.publish(staged));
  await client.until('alive>');
  client.socket.end();
});

test('I4: the router is seen to connect a stream through its own address, and says to which member', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const dead = memberAt('dead', await freePort());
  await serve(contract, [dead]);
  assert.deepEqual(await driver.observe(contract.name, null), {
    kind: 'unknown',
    because: 'no member could be connected to',
  });
  const gone = signal();
  const one = await startStreamBackend(t, 'one', (socket) => socket.resume().once('close', () => gone.tell()));
  one.server.on('connection', (socket) => socket.on('end', () => socket.end()));
  await serve(contract, [one.member]);
  const seen = { incarnation: one.member.incarnation, status: null, body: null };
  assert.deepEqual(await driver.observe(contract.name, null), { kind: 'seen', value: seen });
  await gone.happened;
  assert.equal((await driver.observe('no-such-route', null)).kind, 'unknown');
});

test('a backend that asks for it is told who its client is, before the first byte of the stream', async (t) => {
  const { serve } = router;
  const contract = await ownContract({ proxyProtocol: true });
  const got = signal<Buffer>();
  const one = await startStreamBackend(t, 'one', (socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length >= 28 + 5) got.tell(bytes);
    });
  });
  await serve(contract, [one.member]);
  const client = await wire(contract.listen.port);
  client.write('hello');
  const bytes = await got.happened;
  assert.equal(bytes.subarray(0, 16).toString('hex'), '0d0a0d0a000d0a515549540a2111000c');
  assert.deepEqual([...bytes.subarray(16, 24)], [127, 0, 0, 1, 127, 0, 0, 1]);
  assert.deepEqual([bytes.readUInt16BE(24), bytes.readUInt16BE(26)], [client.socket.localPort, contract.listen.port]);
  assert.equal(bytes.subarray(28).toString(), 'hello');
  client.socket.destroy();
});

test('a stream in which nothing is said for as long as the contract allows is closed', async (t) => {
  const { serve } = router;
  const contract = await ownContract({ idleMs: 100 });
  const one = await startStreamBackend(t, 'one', echo('one'));
  await serve(contract, [one.member]);
  assert.equal(await (await wire(contract.listen.port)).ended(), 'one>');
});

test('a side that does not read stops the other, and a reset is passed on', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const arrived = signal<Socket>();
  const one = await startStreamBackend(t, 'one', (socket) => arrived.tell(socket));
  await serve(contract, [one.member]);
  const client = await wire(contract.listen.port);
  const backend = await arrived.happened;
  const size = 64 * 1_048_576;
  client.socket.write(Buffer.alloc(size));
  let taken = -1;
  for (let turns = 0; turns < 50; turns++) {
    const now = client.socket.bytesWritten - client.socket.writableLength;
    if (now !== taken) turns = 0;
    taken = now;
    await driver.metrics();
  }
  assert.ok(taken < size / 4, `${taken} bytes were taken while the backend did not read`);
  backend.resetAndDestroy();
  await client.ended();
  await eventually('nothing is open', async () => (await metricsOf(contract))?.members[0]?.open === 0);
});

test('a client that has gone before it was connected leaves nothing behind', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const one = await startStreamBackend(t, 'one', (socket) => socket.resume());
  await serve(contract, [one.member]);
  value(await driver.hold(contract.name, 60_000));
  const client = connect(contract.listen.port, '127.0.0.1');
  await eventually('it is held', async () => (await metricsOf(contract))?.heldNow === 1);
  client.resetAndDestroy();
  value(await driver.release(contract.name));
  await eventually('nothing is open', async () => {
    const metrics = await metricsOf(contract);
    return metrics?.heldNow === 0 && metrics.members[0]?.open === 0;
  });
});
