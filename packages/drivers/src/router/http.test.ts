import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import type { RouteContract } from '@idunn/release';
import type { RouteMetrics } from './proxy/route.ts';
import { memberAt, startRawBackend } from './testing/backend.ts';
import { ask, bodyOf, wire } from './testing/client.ts';
import { contractOf, eventually, freePort, rig, value } from './testing/rig.ts';
import { signal } from './testing/signal.ts';

/** One router for all tests of this file; each has a route of its own. */
const router = await rig({ after });

interface Served {
  readonly contract: RouteContract;
  readonly port: number;
}

let routes = 0;
const ownContract = (): Promise<RouteContract> => contractOf({ name: `route-${++routes}` });

async function metricsOf({ name }: RouteContract): Promise<RouteMetrics | undefined> {
  const metrics = await router.driver.metrics();
  return metrics.kind === 'seen' ? metrics.value.routes.find(({ route }) => route === name) : undefined;
}

type Serve = Parameters<typeof startRawBackend>[1];

/** A router with one route to a backend with this handler. */
async function served(t: TestContext, handler: Serve): Promise<Served> {
  const backend = await startRawBackend('one', handler);
  t.after(() => backend.close());
  const contract = await ownContract();
  await router.serve(contract, [backend.member]);
  return { contract, port: contract.listen.port };
}

/** A router with one route to a backend that speaks by itself. */
async function servedByWire(t: TestContext, accept: (socket: Socket) => void): Promise<Served> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const contract = await ownContract();
  await router.serve(contract, [memberAt('wire', (server.address() as AddressInfo).port)]);
  return { contract, port: contract.listen.port };
}

test('headers: Host kept, hop-by-hop dropped, the client said, its own nonce dropped', async (t) => {
  const got = signal<Parameters<Serve>[0]>();
  const { port } = await served(t, (request, response) => {
    got.tell(request);
    response.writeHead(200, [
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'X-Mine',
      'é',
      'Connection',
      'X-Gone',
      'X-Gone',
      '1',
    ]);
    response.end('whole');
  });
  const client = await wire(port);
  client.write(
    'GET /a%20b?c=%ff HTTP/1.1\r\nHost: Shop.Example:81\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\n' +
      'Proxy-Authorization: Basic x\r\nX-Twice: 1\r\nX-Twice: 2\r\nX-Latin: \xe9\r\n' +
      'Idunn-Observe: made-up-by-a-client\r\n' +
      'X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: https\r\n\r\n',
  );
  const answer = await client.ended();
  const { url, headersDistinct: headers } = await got.happened;
  assert.equal(url, '/a%20b?c=%ff');
  assert.deepEqual(headers['host'], ['Shop.Example:81']);
  assert.deepEqual(headers['x-twice'], ['1', '2']);
  assert.deepEqual(headers['x-latin'], ['\xe9']);
  for (const gone of ['x-hop', 'te', 'proxy-authorization', 'idunn-observe'])
    assert.equal(headers[gone], undefined, gone);
  // The peer is on this machine, so the front that it may be is believed.
  assert.deepEqual(headers['x-forwarded-for'], ['198.51.100.7, 127.0.0.1']);
  assert.deepEqual(headers['x-forwarded-proto'], ['https']);
  assert.deepEqual(headers['x-forwarded-host'], ['Shop.Example:81']);
  assert.deepEqual(headers['forwarded'], ['for=127.0.0.1;host="Shop.Example:81";proto=http']);
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
  assert.doesNotMatch(answer, /X-Gone/);
});

test('answers without a body: HEAD, 204, 304', async (t) => {
  const { port } = await served(t, (request, response) => {
    if (request.method === 'HEAD') response.setHeader('Content-Length', '12345');
    response.writeHead(request.url === '/none' ? 204 : request.url === '/same' ? 304 : 200).end();
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const head = await ask(port, { method: 'HEAD', agent });
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '12345', '']);
  assert.equal((await ask(port, { path: '/none', agent })).status, 204);
  assert.equal((await ask(port, { path: '/same', agent })).status, 304);
});

test('chunked bodies and trailers flow both ways', async (t) => {
  const { port } = await served(t, (request, response) => {
    const answer = async (): Promise<void> => {
      const body = await bodyOf(request);
      response.writeHead(200, { Trailer: 'X-Sum' });
      response.write(`${body} `);
      response.addTrailers({ 'X-Sum': `after ${request.trailers['x-check']}` });
      response.end(String(request.headers['transfer-encoding']));
    };
    void answer();
  });
  const client = await wire(port);
  client.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
  client.write('5\r\nhello\r\n3\r\n me\r\n0\r\nX-Check: 8\r\n\r\n');
  const answer = await client.ended();
  assert.match(answer, /hello me /);
  assert.match(answer, /chunked[^]*0\r\nX-Sum: after 8\r\n\r\n$/);
});

test('nothing is buffered: each side sees the first bytes before the other side’s last', async (t) => {
  const { port } = await served(t, (request, response) => {
    request.once('data', (chunk: Buffer) => {
      response.write(`first ${chunk.toString()}.`);
      request.on('data', (more: Buffer) => response.write(`then ${more.toString()}.`));
      request.on('end', () => response.end('end.'));
    });
  });
  const client = await wire(port);
  client.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nab');
  await client.until('first ab.');
  client.write('cd');
  assert.match(await client.ended(), /then cd\.[^]*end\./);
});

test('the header of an answer does not wait for its body', async (t) => {
  const { port } = await served(t, (_request, response) => {
    response.writeHead(200, { 'Content-Length': '4' });
    response.flushHeaders();
  });
  const client = await wire(port);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n/);
  client.socket.destroy();
});

test('the backend decides on 100 Continue, and its early hints pass', async (t) => {
  const backend = await startRawBackend('one', (_request, response) => void response.end('unasked'));
  backend.server.on('checkContinue', (request, response) => {
    if (request.url === '/no') return void response.writeHead(417).end();
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    response.writeContinue();
    void bodyOf(request).then((body) => response.end(`got ${body}`));
  });
  t.after(() => backend.close());
  const contract = await ownContract();
  await router.serve(contract, [backend.member]);
  const head = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n`;
  const client = await wire(contract.listen.port);
  client.write(head('/'));
  assert.match(await client.until('100 Continue\r\n\r\n'), /103 Early Hints\r\nLink: <\/style\.css>; rel=preload\r\n/);
  client.write('abc');
  assert.match(await client.ended(), /got abc$/);
  const refused = await wire(contract.listen.port);
  refused.write(head('/no'));
  assert.match(await refused.until('\r\n\r\n'), /^HTTP\/1\.1 417/);
  refused.socket.destroy();
});

test('pipelined requests are answered in order', async (t) => {
  const { port } = await served(t, (request, response) => void response.end(`[${request.url}]`));
  const client = await wire(port);
  const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  client.write(get('/1') + get('/2') + get('/3', 'Connection: close\r\n'));
  assert.match(await client.ended(), /\[\/1\][^]*\[\/2\][^]*\[\/3\]$/);
});

test('an HTTP/1.0 client gets a plain body that ends with the connection', async (t) => {
  const { port } = await served(t, (_request, response) => {
    response.write('one ');
    response.end('two');
  });
  const client = await wire(port);
  client.write('GET / HTTP/1.0\r\n\r\n');
  assert.match(await client.ended(), /\r\n\r\none two$/);
});

test('64 MiB pass both ways unchanged', async (t) => {
  const { port } = await served(t, (request, response) => {
    response.writeHead(200);
    request.pipe(response);
  });
  const block = Buffer.alloc(1_048_576, 'idunn');
  const client = await wire(port);
  client.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${64 * block.length}\r\n\r\n`);
  const sent = createHash('sha256');
  for (let index = 0; index < 64; index++) {
    sent.update(block);
    if (!client.socket.write(block)) await new Promise((resolve) => client.socket.once('drain', resolve));
  }
  const answer = await client.ended();
  assert.equal(dechunked(answer), sent.digest('hex'));
});

test('a backend that does not read stops the client, and a client that does not read stops the backend', async (t) => {
  const size = 256 * 1_048_576;
  const stalled = signal<number>();
  const unread = signal<Parameters<Serve>[0]>();
  const { port } = await served(t, (request, response) => {
    if (request.method === 'POST') return unread.tell(request);
    response.writeHead(200, { 'Content-Length': String(size) });
    response.write(Buffer.alloc(size));
    void still(() => (response.socket?.bytesWritten ?? 0) - (response.socket?.writableLength ?? 0)).then(stalled.tell);
  });
  const up = await wire(port);
  up.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
  up.socket.write(Buffer.alloc(size));
  const taken = await still(() => up.socket.bytesWritten - up.socket.writableLength);
  assert.ok(taken < size / 8, `${taken} bytes were taken from the client`);
  const down = await wire(port);
  down.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await down.until('\r\n\r\n');
  down.socket.pause();
  const given = await stalled.happened;
  assert.ok(given < size / 8, `${given} bytes were taken from the backend`);
  (await unread.happened).socket.destroy(); // Only now is it known that its client has gone.
  up.socket.destroy();
  down.socket.destroy();
});

/** The value once it has not moved over many turns of the router's loop. */
async function still(read: () => number): Promise<number> {
  for (let last = -1, turns = 0; ; turns++) {
    const now = read();
    if (now !== last) turns = 0;
    else if (turns === 100) return now;
    last = now;
    await router.driver.metrics();
  }
}

/** SHA-256 of a chunked answer's body. */
function dechunked(answer: string): string {
  const hash = createHash('sha256');
  let at = answer.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const end = answer.indexOf('\r\n', at);
    const size = Number.parseInt(answer.slice(at, end), 16);
    if (size === 0) return hash.digest('hex');
    hash.update(Buffer.from(answer.slice(end + 2, end + 2 + size), 'latin1'));
    at = end + 2 + size + 2;
  }
}

test('a client that leaves ends its backend request', async (t) => {
  const arrived = signal();
  const left = signal();
  const { port, contract } = await served(t, (_request, response) => {
    response.on('close', () => left.tell());
    arrived.tell();
  });
  const client = await wire(port);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived.happened;
  client.socket.destroy();
  await left.happened;
  assert.equal((await metricsOf(contract))?.members[0]?.open, 0);
});

test('an answer that breaks off is seen to be broken', async (t) => {
  const { port } = await served(t, (_request, response) => {
    response.writeHead(200, { 'Content-Length': '10' });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  await assert.rejects(ask(port), /aborted|ECONNRESET/);
});

test('an answer before the end of the request reaches the client, and its connection goes on', async (t) => {
  const { port } = await served(t, (request, response) => {
    response.writeHead(request.method === 'POST' ? 413 : 200, { 'Content-Length': '2' }).end('no');
  });
  const client = await wire(port);
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc');
  await client.until('413 Payload Too Large');
  client.write('defGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.match(await client.ended(), /HTTP\/1\.1 200 OK/);
});

test('a request on a stale connection is sent again on a fresh one when that is safe, and only then', async (t) => {
  let connections = 0;
  const { port } = await servedByWire(t, (socket) => {
    connections++;
    let requests = 0;
    socket.on('data', () => {
      // The second request of a connection meets a backend that has just closed it.
      if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      else socket.resetAndDestroy();
    });
  });
  assert.equal((await ask(port)).status, 200);
  assert.deepEqual([(await ask(port)).status, connections], [200, 2]);
  assert.equal((await ask(port)).status, 200);
  assert.equal((await ask(port, { method: 'PUT', body: 'kept' })).status, 200);
  assert.equal((await ask(port)).status, 200);
  const post = await ask(port, { method: 'POST', body: 'perhaps done' });
  assert.deepEqual([post.status, (JSON.parse(post.body) as { code: string }).code], [502, 'backend-answer-lost']);
});

test('a fresh connection that breaks is not tried again', async (t) => {
  let requests = 0;
  const { port } = await servedByWire(t, (socket) => {
    socket.on('data', () => {
      requests++;
      socket.destroy();
    });
  });
  assert.deepEqual([(await ask(port)).status, requests], [502, 1]);
});

test('F14: a request to a member that has died waits for the switch that is under way', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract();
  const dead = memberAt('dead', await freePort());
  const { member } = await backend('alive', (_request, response, body) => response.end(`alive ${body.toString()}`));
  const restarted = { ...member, incarnation: dead.incarnation };
  await serve(contract, [dead]);
  const lost = await ask(contract.listen.port);
  assert.deepEqual([lost.status, (JSON.parse(lost.body) as { code: string }).code], [502, 'backend-unreachable']);
  const staged = value(await driver.stage('web', contract, [restarted]));
  const reply = ask(contract.listen.port, { method: 'POST', body: 'hello' });
  await eventually('it is held', async () => (await metricsOf(contract))?.heldNow === 1);
  value(await driver.publish(staged));
  assert.equal((await reply).body, 'alive hello');
  const observed = await driver.observe(contract.name, '/');
  assert.deepEqual(observed, { kind: 'seen', value: { incarnation: dead.incarnation, status: 200, body: null } });
});

test('several members take turns, and backend connections are used again', async () => {
  const { backend, serve } = router;
  const contract = await ownContract();
  const backends = await Promise.all(['one', 'two'].map((name) => backend(name)));
  let connections = 0;
  for (const { server } of backends) server.on('connection', () => connections++);
  await serve(
    contract,
    backends.map(({ member }) => member),
  );
  const bodies: string[] = [];
  for (let index = 0; index < 6; index++) bodies.push((await ask(contract.listen.port)).body);
  assert.deepEqual(bodies.sort(), ['one', 'one', 'one', 'two', 'two', 'two']);
  assert.equal(connections, 2);
});

test('F10: a listener that goes away closes idle connections, and busy ones with notice on their answer', async (t) => {
  const arrived = signal<Parameters<Serve>[1]>();
  const { contract, port } = await served(t, (request, response) => {
    if (request.url === '/slow') arrived.tell(response);
    else response.end('quick');
  });
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const [idle, busy] = await Promise.all([wire(port), wire(port)]);
  idle.write(get('/'));
  assert.doesNotMatch(await idle.until('quick'), /Connection: close/);
  busy.write(get('/slow'));
  const slow = await arrived.happened;
  const state = await router.driver.read(contract.name);
  assert.ok(state.kind === 'seen');
  await router.serve({ ...contract, listen: { host: '127.0.0.1', port: await freePort() } }, state.value.members);
  await idle.ended();
  slow.end('slow');
  assert.match(await busy.ended(), /Connection: close\r\n[^]*slow$/);
});
