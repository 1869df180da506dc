import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { status } from '@idunn/client/schemas';
import { addAttended } from './lib/attended.ts';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { until } from './lib/until.ts';

const node = { name: 'node', path: realpathSync(process.execPath) };
const PACE = 'interval_ms = 100\ntimeout_ms = 1_000\nfreshness_ms = 5_000';
const NAMES = ['a.example.org', 'www.a.example.org'];

const site = (who: string): string => `require('node:http').createServer((request, response) => {
  response.end(JSON.stringify({ who: '${who}', proto: request.headers['x-forwarded-proto'] }));
}).listen(Number(process.argv[2]), '127.0.0.1');
`;

interface PairFiles {
  readonly certificate: string;
  readonly key: string;
}

/** A self-signed pair for the names, made by openssl. */
function pairFor(directory: string, names: readonly string[], days = 90): PairFiles {
  const base = join(directory, randomBytes(4).toString('hex'));
  const files = { certificate: `${base}.pem`, key: `${base}.key` };
  const subject = [
    '-subj',
    `/CN=${names[0]}`,
    '-addext',
    `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`,
  ];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', files.key];
  execFileSync('openssl', ['req', '-x509', ...key, '-out', files.certificate, '-days', `${days}`, ...subject], {
    stdio: 'ignore',
  });
  return files;
}

/** Puts files in the place of others as a renewal does: whole, by a rename. */
function put(from: PairFiles, to: PairFiles): void {
  for (const part of ['key', 'certificate'] as const) {
    writeFileSync(`${to[part]}.next`, readFileSync(from[part]), { mode: 0o600 });
    renameSync(`${to[part]}.next`, to[part]);
  }
}

interface Answer {
  readonly code: number;
  readonly body: string;
  /** Serial number of the certificate that the connection was made with. */
  readonly serial: string;
}

/** One request by a host name, whose certificate must be one of `trusted` and be for that name. */
function get(port: number, name: string, trusted: readonly string[], more: { agent?: Agent; host?: string } = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const ca = trusted.map((file) => readFileSync(file, 'utf8'));
    const { agent = false, host = name } = more;
    const headers = { Host: `${host}:${port}` };
    request({ host: '127.0.0.1', port, servername: name, headers, ca, agent, path: '/' }, (answer) => {
      const serial = (answer.socket as TLSSocket).getPeerCertificate().serialNumber;
      answer
        .toArray()
        .then((chunks) => resolve({ code: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString(), serial }))
        .catch(reject);
    })
      .once('error', reject)
      .end();
  });
}

const serialOf = ({ certificate }: PairFiles): string => new X509Certificate(readFileSync(certificate)).serialNumber;

async function view(fleet: Fleet, target: string) {
  const { foundBy, ...answer } = JSON.parse((await fleet.idunn('status', '--json')).out) as { foundBy: string };
  assert.equal(foundBy, '--fleet');
  return status.parse(answer).targets.find((one) => one.target === target);
}

const incidentsOf = async (fleet: Fleet): Promise<readonly { code: string; detail: string }[]> =>
  (await view(fleet, 'shop'))?.incidents ?? [];

test('TLS with several names, two targets on one address, and certificates renewed while they serve', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  const port = Number(new URL(fleet.url).port) + 17;
  const plain = port + 1;
  const directory = join(fleet.work, 'tls');
  await mkdir(directory);
  const [first, renewed, other] = [
    pairFor(directory, NAMES),
    pairFor(directory, NAMES),
    pairFor(directory, ['b.example.org']),
  ];
  const served = pairFor(directory, NAMES);
  put(first, served);
  const trusted = [first.certificate, renewed.certificate, other.certificate];
  for (const [target, pair, route] of [
    ['shop', served, `names = ${JSON.stringify(NAMES)}\nredirect = { host = "127.0.0.1", port = ${plain} }`],
    ['blog', other, 'names = ["b.example.org"]'],
  ] as const) {
    await addAttended(fleet, {
      target,
      files: { 'main.js': site(`${target} 1`) },
      service: `path = "main.js"
interpreter = "node"
args = [{ slot = "endpoint-port" }]
protocol = "http"
routed = true`,
      health: `kind = "http"\npath = "/"\n${PACE}`,
      interpreter: node,
      port,
      route,
      binding: `\n[route.tls]\ncertificate = "${pair.certificate}"\nkey = "${pair.key}"\n`,
    });
  }
  const said = async (name: string): Promise<unknown> => JSON.parse((await get(port, name, trusted)).body);

  await t.test('each name is answered by its own target, under its own certificate', async () => {
    for (const target of ['shop', 'blog']) {
      const { code, outcome } = await fleet.up(target);
      assert.equal(code, 0, JSON.stringify(outcome));
    }
    for (const name of NAMES) assert.deepEqual(await said(name), { who: 'shop 1', proto: 'https' });
    assert.deepEqual(await said('b.example.org'), { who: 'blog 1', proto: 'https' });
    const astray = await get(port, 'b.example.org', trusted, { host: 'a.example.org' });
    assert.equal(astray.code, 421, 'a request for another name than the connection was made for');
  });

  await t.test('plain HTTP is sent to https', async () => {
    const answer = await fetch(`http://127.0.0.1:${plain}/`, { redirect: 'manual' });
    assert.equal(answer.status, 421, 'a name that no route has');
    const { status: code, location } = await redirected(plain, 'www.a.example.org', '/here?x=1');
    assert.deepEqual([code, location], [308, `https://www.a.example.org:${port}/here?x=1`]);
  });

  await t.test('I7: a switch under load over https fails nothing', async () => {
    await fleet.commit({ 'shop/main.js': site('shop 2') });
    const stop = new AbortController();
    const met = new Set<string>();
    const failed: string[] = [];
    let answered = 0;
    const loops = NAMES.concat(NAMES).map(async (name) => {
      while (!stop.signal.aborted) {
        try {
          const { code, body } = await get(port, name, trusted);
          if (code !== 200) failed.push(`${code} ${body}`);
          else met.add((JSON.parse(body) as { who: string }).who);
          answered++;
        } catch (error) {
          failed.push(String(error));
        }
      }
    });
    const { code, outcome } = await fleet.up('shop');
    assert.deepEqual(await said('www.a.example.org'), { who: 'shop 2', proto: 'https' });
    stop.abort();
    await Promise.all(loops);
    assert.equal(code, 0, JSON.stringify(outcome));
    assert.deepEqual([failed.slice(0, 3), [...met].sort()], [[], ['shop 1', 'shop 2']]);
    assert.ok(answered > 50, `${answered} requests`);
  });

  await t.test(
    'a renewed certificate is shown to who connects from then on; connections that stand go on',
    async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.after(() => agent.destroy());
      assert.equal((await get(port, 'a.example.org', trusted, { agent })).serial, serialOf(first));
      put(renewed, served);
      await until(
        () => get(port, 'a.example.org', trusted),
        (answer) => answer.serial === serialOf(renewed),
      );
      const { code, serial } = await get(port, 'a.example.org', trusted, { agent });
      assert.deepEqual([code, serial], [200, serialOf(first)], 'the connection from before');
      assert.equal((await get(port, 'b.example.org', trusted)).serial, serialOf(other), 'the other target’s');
    },
  );

  await t.test('its end is shown in status and metrics', async () => {
    const shown = (await view(fleet, 'shop'))?.route?.certificates;
    const until = new Date(new X509Certificate(readFileSync(renewed.certificate)).validTo);
    assert.deepEqual(shown, [{ file: served.certificate, names: NAMES, expiresAt: until.toISOString() }]);
    const metrics = await fleet.client.metrics();
    const line = /^idunn_route_certificate_expires_seconds\{([^}]*shop[^}]*)\} (\d+)$/m;
    const [, , seconds] = line.exec(metrics.ok ? metrics.value : '') ?? [];
    assert.equal(Number(seconds), until.getTime() / 1_000);
    assert.match((await fleet.idunn('status', 'shop')).out, /a\.example\.org.*until/);
  });

  await t.test('F26: a broken pair is an incident; the pair before it serves on, and so does deploying', async () => {
    put({ certificate: renewed.certificate, key: other.key }, served);
    const incidents = await until(
      () => incidentsOf(fleet),
      (open) => open.length > 0,
    );
    assert.deepEqual(
      incidents.map(({ code }) => code),
      ['route-certificate-unusable'],
    );
    assert.match(incidents[0]?.detail ?? '', /is not its private key/);
    assert.equal((await get(port, 'a.example.org', trusted)).serial, serialOf(renewed));
    await fleet.commit({ 'shop/main.js': site('shop 3') });
    const { code, outcome } = await fleet.up('shop');
    assert.equal(code, 0, JSON.stringify(outcome));
    assert.deepEqual(await said('a.example.org'), { who: 'shop 3', proto: 'https' });
    // One that ends within a second would be told nobody.
    await historyUntil(fleet, 'shop', ['incident.opened']);
    put(first, served);
    await until(
      () => incidentsOf(fleet),
      (open) => open.length === 0,
    );
    assert.equal((await get(port, 'a.example.org', trusted)).serial, serialOf(first));
    const kinds = ['incident.opened', 'incident.closed'];
    const history = await historyUntil(fleet, 'shop', kinds);
    assert.deepEqual(
      history
        .filter(({ kind }) => kinds.includes(kind))
        .map(({ kind, body }) => [kind, (body as { code: string }).code]),
      kinds.map((kind) => [kind, 'route-certificate-unusable']),
    );
  });
});

/** The history of a target, oldest first, once each of these kinds is in it. */
const historyUntil = (fleet: Fleet, target: string, kinds: readonly string[]) =>
  until(
    async () => {
      const answer = await fleet.client.history({ subject: target, limit: 200 });
      assert.ok(answer.ok);
      return answer.value.entries.toReversed();
    },
    (entries) => kinds.every((kind) => entries.some((entry) => entry.kind === kind)),
  );

async function redirected(port: number, host: string, path: string): Promise<{ status: number; location: string }> {
  const socket = connect(port, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.0\r\nHost: ${host}\r\n\r\n`));
  const text = Buffer.concat(await socket.toArray()).toString();
  const [, code, location] = /^HTTP\/1\.[01] (\d+)[^]*?^location: (\S+)/im.exec(text) ?? [];
  return { status: Number(code), location: location ?? text };
}

test('a TCP service is told its client by a PROXY protocol header, before and after a switch', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  const port = Number(new URL(fleet.url).port) + 17;
  const program = (version: number): string => `require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  let got = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    got = Buffer.concat([got, chunk]);
    if (got.includes('hello')) socket.end('${version} ' + got.toString('hex'));
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
`;
  await addAttended(fleet, {
    target: 'door',
    files: { 'main.js': program(1) },
    service: `path = "main.js"
interpreter = "node"
args = [{ slot = "endpoint-port" }]
protocol = "tcp"
routed = true`,
    health: `kind = "tcp"\n${PACE}`,
    interpreter: node,
    port,
    route: 'protocol = "tcp"\nproxy_protocol = true',
  });
  for (const version of [1, 2]) {
    if (version > 1) await fleet.commit({ 'door/main.js': program(version) });
    const { code, outcome } = await fleet.up('door');
    assert.equal(code, 0, JSON.stringify(outcome));
    const socket = connect(port, '127.0.0.1', () => socket.write('hello'));
    const from = await new Promise<number>((resolve) => socket.once('connect', () => resolve(socket.localPort ?? 0)));
    const said = Buffer.concat(await socket.toArray()).toString();
    const word = (value: number): string => value.toString(16).padStart(4, '0');
    const header = `0d0a0d0a000d0a515549540a2111000c7f0000017f000001${word(from)}${word(port)}`;
    assert.equal(said, `${version} ${header}${Buffer.from('hello').toString('hex')}`);
  }
});
