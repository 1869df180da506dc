import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { CertificateState } from '@idunn/authority';
import type { RouteContract, RouteTls } from '@idunn/release';
import { WebSocket, WebSocketServer } from 'ws';
import { memberAt } from './testing/backend.ts';
import { EXPIRED, FOR_A, FOR_B, type TestPair } from './testing/certificates.ts';
import { ask, bodyOf, textOf } from './testing/client.ts';
import { contractOf, eventually, freePort, rig, value } from './testing/rig.ts';
import { startStreamBackend } from './testing/tcp-backend.ts';

/** One router for all tests of this file; each has a route of its own. */
const router = await rig({ after });

let routes = 0;
const ownContract = (more: Partial<RouteContract>): Promise<RouteContract> =>
  contractOf({ ...more, name: `route-${++routes}` });

const files = await mkdtemp(join(tmpdir(), 'idunn-tls-'));
after(() => rm(files, { recursive: true, force: true }));

let pairs = 0;
type Files = RouteTls['certificates'][number];

/** Writes the pair as a renewal does: beside, then in the place of what was there. */
async function put(at: Files, pair: TestPair): Promise<void> {
  for (const [path, text] of [
    [at.certificate, pair.certificate],
    [at.key, pair.key],
  ] as const) {
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
  }
}

async function filesOf(pair: TestPair): Promise<Files> {
  const name = join(files, `pair-${++pairs}`);
  const at = { certificate: `${name}.pem`, key: `${name}.key` };
  await put(at, pair);
  return at;
}

const tlsOf = (...certificates: readonly Files[]): RouteTls => ({ certificates });

/** A TLS connection that trusts nobody and looks at what it is shown. */
async function handshake(port: number, more: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...more });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return socket;
}

async function shown(port: number, servername?: string): Promise<string | undefined> {
  const socket = await handshake(port, servername === undefined ? {} : { servername });
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

async function get(port: number, host: string, servername = host): Promise<{ status: number; body: string }> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    request(
      {
        host: '127.0.0.1',
        port,
        path: '/',
        servername,
        headers: { Host: host },
        rejectUnauthorized: false,
        agent: false,
      },
      resolve,
    )
      .once('error', reject)
      .end(),
  );
  return { status: answer.statusCode ?? 0, body: await bodyOf(answer) };
}

async function certificates(contract: RouteContract): Promise<readonly CertificateState[]> {
  const state = await router.driver.read(contract.name);
  if (state.kind !== 'seen') throw new Error(state.kind);
  return state.value.certificates;
}

test('TLS ends at the router, which says so to the backend; 1.2 at least, and HTTP/1.1 by ALPN', async () => {
  const { driver, backend, serve } = router;
  const contract = await ownContract({ tls: tlsOf(await filesOf(FOR_A)) });
  const { port } = contract.listen;
  const one = await backend('one', (request, response) => response.end(String(request.headers['x-forwarded-proto'])));
  await serve(contract, [one.member]);
  assert.deepEqual(await get(port, 'whatever.example'), { status: 200, body: 'https' });
  assert.deepEqual(await driver.observe(contract.name, '/'), {
    kind: 'seen',
    value: { incarnation: one.member.incarnation, status: 200, body: null },
  });
  const modern = await handshake(port, { ALPNProtocols: ['h2', 'http/1.1'] });
  assert.deepEqual([modern.alpnProtocol, modern.getProtocol()], ['http/1.1', 'TLSv1.3']);
  modern.destroy();
  await assert.rejects(handshake(port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }));
  const [state] = await certificates(contract);
  assert.deepEqual(state?.names, ['a.example.org', 'www.a.example.org']);
  assert.equal(state?.expiresAtMs, Date.parse('2120-01-01T00:00:00Z'));
});

test('a name chooses its certificate; none, and one that no certificate is for, get the first', async () => {
  const { backend, serve } = router;
  const contract = await ownContract({ tls: tlsOf(await filesOf(FOR_A), await filesOf(FOR_B)) });
  const { port } = contract.listen;
  await serve(contract, [(await backend('one')).member]);
  const names = await Promise.all([
    shown(port),
    shown(port, 'b.example.org'),
    shown(port, 'www.a.example.org'),
    shown(port, 'c.example.org'),
  ]);
  assert.deepEqual(names, ['a.example.org', 'b.example.org', 'a.example.org', 'a.example.org']);
});

test('a renewed certificate is served from the change of its files on; what is connected stays so', async (t) => {
  const { serve } = router;
  const at = await filesOf(FOR_A);
  const contract = await ownContract({ tls: tlsOf(at) });
  const { port } = contract.listen;
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => socket.on('message', (data) => socket.send(textOf(data))));
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  await serve(contract, [memberAt('ws', (server.address() as { port: number }).port)]);
  const standing = new WebSocket(`wss://127.0.0.1:${port}/`, { rejectUnauthorized: false });
  await new Promise((resolve) => standing.once('open', resolve));
  await put(at, FOR_B);
  await eventually('the new one is served', async () => (await shown(port)) === 'b.example.org');
  standing.send('still here');
  assert.equal(await new Promise((resolve) => standing.once('message', (data) => resolve(textOf(data)))), 'still here');
  standing.terminate();
});

test('F26: a pair that cannot be served is loud, and the one before serves on until it is mended', async () => {
  const { driver, backend, serve } = router;
  const at = await filesOf(FOR_A);
  const contract = await ownContract({ tls: tlsOf(at) });
  const { port } = contract.listen;
  await serve(contract, [(await backend('one')).member]);
  const problem = async (): Promise<string | null | undefined> => (await certificates(contract))[0]?.problem;
  await writeFile(at.certificate, FOR_B.certificate); // Its key has not come.
  await eventually('it is said', async () => (await problem())?.includes('is not its private key') === true);
  assert.equal(await shown(port), 'a.example.org');
  await writeFile(at.certificate, 'no certificate');
  await eventually('it is said', async () => (await problem())?.includes('it is no PEM certificate') === true);
  await put(at, FOR_A);
  await chmod(at.key, 0o644);
  value(await driver.reloadCertificates());
  assert.match((await problem()) ?? '', /others may read or change .*mode 644/);
  value(await driver.stage('web', contract, [(await backend('two')).member]));
  assert.equal(await shown(port), 'a.example.org', 'a deployment is not held up by it');
  await rm(at.key);
  value(await driver.reloadCertificates());
  assert.match((await problem()) ?? '', /ENOENT/);
  await put(at, FOR_B);
  await eventually('it is mended', async () => (await problem()) === null);
  assert.equal(await shown(port), 'b.example.org');
});

test('F26: a pair that was never good refuses the stage, with the reason and without the key', async () => {
  const { driver, backend } = router;
  const at = await filesOf({ certificate: FOR_A.certificate, key: FOR_B.key });
  const contract = await ownContract({ tls: tlsOf(at) });
  const refused = await driver.stage('web', contract, [(await backend('one')).member]);
  assert.ok(!refused.ok && refused.refusal.code === 'route-certificate-unusable');
  assert.doesNotMatch(JSON.stringify(refused), /PRIVATE/);
  await assert.rejects(handshake(contract.listen.port), /ECONNREFUSED/);
});

test('a certificate that has run out is served and its end is told', async () => {
  const { backend, serve } = router;
  const contract = await ownContract({ tls: tlsOf(await filesOf(EXPIRED)) });
  await serve(contract, [(await backend('one')).member]);
  const [state] = await certificates(contract);
  assert.deepEqual([state?.expiresAtMs, state?.problem], [Date.parse('2021-01-01T00:00:00Z'), null]);
});

test('a renewal that moves a link is seen', async () => {
  const { backend, serve } = router;
  const [first, second] = [await filesOf(FOR_A), await filesOf(FOR_B)];
  const at = { certificate: join(files, 'live.pem'), key: join(files, 'live.key') };
  const point = async (to: Files): Promise<void> => {
    for (const file of ['certificate', 'key'] as const) {
      await symlink(to[file], `${at[file]}.new`);
      await rename(`${at[file]}.new`, at[file]);
    }
  };
  await point(first);
  const contract = await ownContract({ tls: tlsOf(at) });
  await serve(contract, [(await backend('one')).member]);
  await point(second);
  await eventually('it is served', async () => (await shown(contract.listen.port)) === 'b.example.org');
});

test('the certificates are read again by a router that comes back', async (t) => {
  const { driver, backend, serve, pid } = await rig(t);
  const at = await filesOf(FOR_A);
  const contract = await ownContract({ tls: tlsOf(at) });
  await serve(contract, [(await backend('one')).member]);
  process.kill(await pid(), 'SIGKILL');
  await eventually('it serves', async () => (await driver.read(contract.name)).kind === 'seen');
  assert.equal(await shown(contract.listen.port), 'a.example.org');
  process.kill(await pid(), 'SIGHUP');
  assert.equal((await get(contract.listen.port, 'x')).body, 'one');
});

test('several routes share an address and are told apart by name; an unknown one is answered 421', async () => {
  const { driver, backend, serve } = router;
  const [a, b] = [await filesOf(FOR_A), await filesOf(FOR_B)];
  const names = ['a.example.org', '*.a.example.org'];
  const first = await ownContract({ tls: tlsOf(a), names });
  const { listen } = first;
  const second = await ownContract({ tls: tlsOf(b), names: ['b.example.org'], listen });
  await serve(first, [(await backend('one')).member], 'first');
  await serve(second, [(await backend('two')).member], 'second');
  assert.equal((await get(listen.port, 'a.example.org')).body, 'one');
  assert.equal((await get(listen.port, 'WWW.A.example.org.')).body, 'one');
  assert.equal((await get(listen.port, 'b.example.org')).body, 'two');
  assert.equal(await shown(listen.port, 'b.example.org'), 'b.example.org');
  const strange = await get(listen.port, 'c.example.org');
  assert.deepEqual([strange.status, (JSON.parse(strange.body) as { code: string }).code], [421, 'request-misdirected']);
  assert.equal((await get(listen.port, 'b.example.org', 'a.example.org')).status, 421, 'made for another name');
  for (const route of [first, second]) assert.equal((await driver.observe(route.name, '/')).kind, 'seen');
  const third = await ownContract({ tls: tlsOf(b), names: ['b.example.org'], listen });
  const clash = await driver.stage('third', third, []);
  assert.ok(!clash.ok && clash.refusal.code === 'route-listener-unavailable');
  const plain = await driver.stage('third', { ...third, names: ['d.example.org'], tls: null }, []);
  assert.ok(!plain.ok && plain.refusal.code === 'route-listener-unavailable', 'another protocol');
  // F9: what one route leaves, the other keeps.
  value(await driver.remove(first.name));
  assert.equal((await get(listen.port, 'a.example.org')).status, 421);
  assert.equal((await get(listen.port, 'b.example.org')).body, 'two');
});

test('the route without names takes what no other route of its address does', async () => {
  const { backend, serve } = router;
  const open = await ownContract({});
  const named = await ownContract({ names: ['a.example.org'], listen: open.listen });
  const { port } = open.listen;
  await serve(named, [(await backend('named')).member], 'named');
  assert.equal((await ask(port)).status, 421);
  await serve(open, [(await backend('open')).member], 'open');
  const bodies = await Promise.all([ask(port), ask(port, { headers: { Host: 'a.example.org:81' } })]);
  assert.deepEqual(
    bodies.map(({ body }) => body),
    ['open', 'named'],
  );
});

test('plain HTTP is redirected to the same address under https', async () => {
  const { backend, serve } = router;
  const redirect = { host: '127.0.0.1', port: await freePort() };
  const contract = await ownContract({ tls: tlsOf(await filesOf(FOR_A)), names: ['a.example.org'], redirect });
  await serve(contract, [(await backend('one')).member]);
  const known = await ask(redirect.port, { method: 'POST', path: '/x?y=1', headers: { Host: 'a.example.org' } });
  const location = `https://a.example.org:${contract.listen.port}/x?y=1`;
  assert.deepEqual([known.status, known.headers.location], [308, location]);
  assert.equal((await ask(redirect.port)).status, 421);
});

test('a stream over TLS goes to the route of its name, as plain bytes', async (t) => {
  const { driver, serve } = router;
  const pair = await filesOf(FOR_A);
  const first = await ownContract({ protocol: 'tcp', tls: tlsOf(pair), names: ['a.example.org'] });
  const second = await ownContract({
    protocol: 'tcp',
    tls: tlsOf(pair),
    names: ['b.example.org'],
    listen: first.listen,
  });
  const one = await startStreamBackend(t, 'one', (socket) => socket.pipe(socket));
  const two = await startStreamBackend(t, 'two', (socket) => socket.end('two'));
  await serve(first, [one.member], 'first');
  await serve(second, [two.member], 'second');
  const { port } = first.listen;
  const socket = await handshake(port, { servername: 'a.example.org' });
  socket.write('echo');
  assert.equal(await new Promise((resolve) => socket.once('data', (data) => resolve(String(data)))), 'echo');
  socket.destroy();
  const other = await handshake(port, { servername: 'b.example.org' });
  assert.equal(await new Promise((resolve) => other.once('data', (data) => resolve(String(data)))), 'two');
  const stranger = await handshake(port, { servername: 'c.example.org' });
  await new Promise((resolve) => stranger.on('error', () => undefined).once('close', resolve));
  assert.equal((await driver.observe(first.name, null)).kind, 'seen');
});

test('the private key stands in no state file and no log', async () => {
  const state = await readFile(router.stateFile, 'utf8');
  const log = await readFile(join(router.directory, 'log', 'router.log'), 'utf8');
  const secret = FOR_A.key.split('\n')[1] ?? '';
  assert.ok(!state.includes(secret) && !log.includes(secret) && secret.length > 40);
});
