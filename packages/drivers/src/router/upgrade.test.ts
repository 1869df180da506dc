import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import type { RouteContract } from '@idunn/release';
import { WebSocket, WebSocketServer } from 'ws';
import { memberAt, startRawBackend } from './testing/backend.ts';
import { textOf, wire } from './testing/client.ts';
import { contractOf, eventually, rig, type Scope, value } from './testing/rig.ts';
import { signal } from './testing/signal.ts';

/** One router for all tests of this file; each has a route of its own. */
const router = await rig({ after });

let routes = 0;
const ownContract = (more: Partial<RouteContract> = {}): Promise<RouteContract> =>
  contractOf({ ...more, name: `route-${++routes}` });

async function openNow({ name }: RouteContract, incarnation: string): Promise<number | null> {
  const open = await router.driver.open(name, incarnation as never);
  return open.kind === 'seen' ? open.value : null;
}

/** A backend that answers each message with its name in front. */
async function echoing(scope: Scope, name: string) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) =>
    socket.on('message', (data, binary) => socket.send(binary ? data : `${name} ${textOf(data)}`)),
  );
  scope.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { server, member: memberAt(name, (server.address() as { port: number }).port) };
}

async function connected(port: number, path = '/'): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return socket;
}

const said = (socket: WebSocket): Promise<string> =>
  new Promise((resolve) => socket.once('message', (data) => resolve(textOf(data))));

const closedWith = (socket: WebSocket): Promise<{ code: number; reason: string }> =>
  new Promise((resolve) => socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })));

test('a WebSocket stays on its member through a switch, new ones go to the new member', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const { port } = contract.listen;
  const one = await echoing(t, 'one');
  const two = await echoing(t, 'two');
  await serve(contract, [one.member]);
  const old = await connected(port);
  old.send('hello');
  assert.equal(await said(old), 'one hello');
  await serve(contract, [two.member]);
  const young = await connected(port);
  young.send('hello');
  old.send('still');
  assert.deepEqual(await Promise.all([said(young), said(old)]), ['two hello', 'one still']);
  assert.equal(await openNow(contract, one.member.incarnation), 1);
  old.close();
  await router.event((event) => event.kind === 'drained' && event.activation === one.member.activation);
  young.terminate();
  await eventually('the member is left', async () => (await openNow(contract, two.member.incarnation)) === 0);
  assert.ok((await driver.metrics()).kind === 'seen');
});

test('F10: a WebSocket is told before its drain ends, with 1001 between two frames, and not cut', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const one = await echoing(t, 'one');
  await serve(contract, [one.member]);
  const socket = await connected(contract.listen.port);
  const heard: string[] = [];
  socket.on('message', (data) => heard.push(textOf(data)));
  const [served] = one.server.clients;
  assert.ok(served);
  const servedClose = closedWith(served);
  await serve(contract, [(await echoing(t, 'two')).member]);
  value(await asOutcome(driver.drain(contract.name, one.member.incarnation, 1_000)));
  socket.send('last');
  const told = await closedWith(socket);
  assert.deepEqual(heard, ['one last']);
  assert.deepEqual(told, { code: 1001, reason: 'the service is being replaced' });
  assert.equal((await servedClose).code, 1001, 'the client’s answer reached the backend');
});

test('F10: who asks a drain again, as the authority does while it waits, does not put its end off', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const one = await echoing(t, 'one');
  await serve(contract, [one.member]);
  const socket = await connected(contract.listen.port);
  const closed = closedWith(socket);
  await serve(contract, []);
  await eventually('the drain ends', async () => {
    await driver.drain(contract.name, one.member.incarnation, 300);
    return router.events.some((told) => told.kind === 'drained' && told.route === contract.name);
  });
  assert.equal((await closed).code, 1001);
});

test('a router that stops tells its WebSockets, and never within a frame that is on its way', async (t) => {
  const { driver, serve } = await rig(t);
  const contract = await ownContract();
  const arrived = signal<Socket>();
  const backend = await startRawBackend('one', (_request, response) => void response.end());
  backend.server.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    arrived.tell(socket);
  });
  t.after(() => backend.close());
  await serve(contract, [backend.member]);
  const client = await wire(contract.listen.port);
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await client.until('\r\n\r\n');
  const socket = await arrived.happened;
  // A text frame of 300 bytes, of which 10 have come when the router is to stop.
  socket.write(Buffer.concat([Buffer.from([0x81, 126, 1, 44]), Buffer.alloc(10, 'a')]));
  await client.until('a'.repeat(10));
  value(await driver.stop());
  socket.write(Buffer.concat([Buffer.alloc(290, 'b'), Buffer.from([0x81, 4]), Buffer.from('lost')]));
  const all = await client.ended();
  const frames = all.slice(all.indexOf('\r\n\r\n') + 4);
  assert.equal(frames.slice(0, 4), '\x81\x7e\x01\x2c');
  assert.equal(frames.slice(4, 304), 'a'.repeat(10) + 'b'.repeat(290));
  assert.equal(frames.slice(304, 308), '\x88\x1f\x03\xe9');
  assert.equal(frames.slice(308), 'the service is being replaced');
});

test('a WebSocket that is asked for during a hold waits, and a rejection before effect goes once more', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const one = await startRawBackend('one', (_request, response) => void response.end());
  one.server.on('upgrade', (_request: IncomingMessage, socket: Socket) =>
    socket.end('HTTP/1.1 503 No\r\nIdunn-Rejected: before-effect\r\nContent-Length: 0\r\n\r\n'),
  );
  t.after(() => one.close());
  const two = await echoing(t, 'two');
  await serve(contract, [one.member]);
  const staged = value(await driver.stage('web', contract, [two.member]));
  const rejected = connected(contract.listen.port);
  await eventually('it waits', async () => (await heldNow(contract)) === 1);
  value(await driver.hold(contract.name, 5_000));
  const held = connected(contract.listen.port);
  await eventually('both wait', async () => (await heldNow(contract)) === 2);
  value(await driver.publish(staged));
  for (const socket of await Promise.all([rejected, held])) {
    socket.send('hello');
    assert.equal(await said(socket), 'two hello');
    socket.terminate();
  }
});

test('an answer other than 101 is passed on, and a body in an upgrade is refused', async (t) => {
  const { serve } = router;
  const contract = await ownContract();
  const backend = await startRawBackend('one', (_request, response) => void response.writeHead(426).end('no'));
  t.after(() => backend.close());
  await serve(contract, [backend.member]);
  const plain = await wire(contract.listen.port);
  plain.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  assert.match(await plain.ended(), /^HTTP\/1\.1 426 Upgrade Required\r\n[^]*no/);
  const body = await wire(contract.listen.port);
  body.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc');
  assert.match(await body.ended(), /^HTTP\/1\.1 501 [^]*request-upgrade-unsupported/);
  const tunnel = await wire(contract.listen.port);
  tunnel.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
  assert.match(await tunnel.ended(), /^HTTP\/1\.1 501 [^]*request-upgrade-unsupported/);
});

test('HTTP/2 without TLS is not taken up: the request is answered as if it had not been asked for', async (t) => {
  const { serve } = router;
  const contract = await ownContract();
  const backend = await startRawBackend('one', (request, response) => void response.end(`${request.headers.upgrade}`));
  t.after(() => backend.close());
  await serve(contract, [backend.member]);
  const client = await wire(contract.listen.port);
  client.write(
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n',
  );
  assert.match(await client.ended(), /^HTTP\/1\.1 200 OK\r\n[^]*undefined/);
});

test('another protocol: the end of each direction passes by itself, and back-pressure both ways', async (t) => {
  const { driver, serve } = router;
  const contract = await ownContract();
  const arrived = signal<Socket>();
  const backend = await startRawBackend('one', (_request, response) => void response.end());
  backend.server.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: wire/1\r\nX-Mine: 1\r\n\r\nfirst');
    arrived.tell(socket);
  });
  t.after(() => backend.close());
  await serve(contract, [backend.member]);
  const client = await wire(contract.listen.port);
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: wire/1\r\n\r\n');
  assert.match(
    await client.until('first'),
    /^HTTP\/1\.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: wire\/1\r\nX-Mine: 1\r\n\r\nfirst$/,
  );
  const socket = await arrived.happened;
  socket.pause();
  const size = 64 * 1_048_576;
  client.socket.write(Buffer.alloc(size, 'x'));
  let taken = -1;
  for (let turns = 0; turns < 50; turns++) {
    const now = client.socket.bytesWritten - client.socket.writableLength;
    if (now !== taken) turns = 0;
    taken = now;
    await driver.metrics();
  }
  assert.ok(taken < size / 4, `${taken} bytes were taken while the backend did not read`);
  let got = 0;
  socket.on('data', (chunk: Buffer) => {
    got += chunk.length;
  });
  socket.resume();
  const ended = new Promise((resolve) => socket.once('end', resolve));
  client.socket.end();
  await ended;
  assert.equal(got, size);
  socket.end('and last'); // The client's side has ended, the backend's has not.
  assert.match(await client.ended(), /firstand last$/);
});

async function heldNow({ name }: RouteContract): Promise<number | undefined> {
  const metrics = await router.driver.metrics();
  return metrics.kind === 'seen' ? metrics.value.routes.find(({ route }) => route === name)?.heldNow : undefined;
}

async function asOutcome(reading: ReturnType<typeof router.driver.drain>) {
  const evidence = await reading;
  if (evidence.kind !== 'seen') throw new Error(evidence.kind);
  return { ok: true as const, value: evidence.value };
}
