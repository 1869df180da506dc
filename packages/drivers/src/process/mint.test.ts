import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Envelope, publicKeyOf, signedBy, verificationKey } from '@idunn/kernel';
import { activationFiles } from './activation-directory.ts';
import { presenceEveryMs } from './launch-document.ts';
import { Bench, codeOf, must } from './testing/bench.ts';

const tokenSecret = (bench: Bench) => [{ name: 'token', file: join(bench.root, 'token') }];

test('a minted activation has its directory, documents and 0600 keys', async (t) => {
  const bench = new Bench(t);
  const launch = bench.launch('polite', { secrets: tokenSecret(bench) });
  const activation = await bench.mint(launch);
  const files = activationFiles(bench.options.roots.runtime, activation.activation);
  assert.equal(statSync(files.directory).mode & 0o777, 0o700);
  for (const file of [
    ...Object.values(files.keys.program),
    files.launch,
    files.document,
    join(files.secrets, 'token'),
  ]) {
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
  }
  assert.match(readFileSync(files.keys.program.activation, 'utf8'), /^[A-Za-z0-9+/]{43}=\n$/);
  const envelope = JSON.parse(readFileSync(files.launch, 'utf8')) as Envelope;
  assert.ok(signedBy(envelope, verificationKey(publicKeyOf(bench.authorityKey.privateKey))));
  const document = JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as Record<string, unknown>;
  assert.equal(document['activation'], activation.activation);
  assert.equal(document['presenceEveryMs'], presenceEveryMs(9_000));
  assert.deepEqual(document['secrets'], ['token']);
  assert.ok(statSync(files.alive).isFIFO());
});

test('I6: a repeated mint returns the first answer, also from a later daemon; another one is refused', async (t) => {
  const bench = new Bench(t);
  const later = new Bench(t, { ...bench.options });
  const launch = bench.launch('polite', {
    endpoint: { protocol: 'http', host: '127.0.0.1', fromPort: 21_310, toPort: 21_319 },
  });
  const request = bench.mintRequest(launch);
  const first = must(await bench.driver.mint(request));
  assert.deepEqual(must(await bench.driver.mint(request)), first);
  assert.deepEqual(must(await later.driver.mint(request)), first);
  const other = { ...request, incarnation: `game@sha256:${'0'.repeat(64)}` as const };
  assert.equal(codeOf(await bench.driver.mint(other)), 'activation-differs');
});

test('a mint that died before its launch document is made whole, with one key', async (t) => {
  const bench = new Bench(t);
  const request = bench.mintRequest(bench.launch('polite'));
  const files = activationFiles(bench.options.roots.runtime, request.activation);
  must(await bench.driver.mint(request));
  unlinkSync(files.launch);
  const again = must(await bench.driver.mint(request));
  assert.equal(must(await bench.driver.activation(request.activation)).publicKey, again.publicKey);
});

test('ports: taken, promised and bound ones are passed over; a full range is refused', async (t) => {
  const bench = new Bench(t);
  const range = { protocol: 'http', host: '127.0.0.1', fromPort: 21_320, toPort: 21_323 } as const;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(21_321, '127.0.0.1', resolve));
  const launch = bench.launch('polite', { endpoint: range });
  const mint = () => bench.driver.mint(bench.mintRequest(launch, { takenPorts: [21_320] }));
  const both = await Promise.all([mint(), mint()]);
  assert.deepEqual(new Set(both.map((outcome) => must(outcome).endpoint?.port)), new Set([21_322, 21_323]));
  assert.equal(codeOf(await mint()), 'ports-exhausted');
  server.close();
});

test('F14, I7: a port that an earlier daemon promised is passed over before anybody listens there', async (t) => {
  const endpoint = { protocol: 'http', host: '127.0.0.1', fromPort: 21_330, toPort: 21_332 } as const;
  const bench = new Bench(t);
  const launch = bench.launch('polite', { endpoint });
  const [spare, lives, ended] = [await bench.mint(launch), await bench.mint(launch), await bench.mint(launch)];
  const started = await Promise.all([lives, ended].map((one) => bench.driver.start(bench.launchRequest(one, launch))));
  const [living, over] = started.map(must);
  assert.ok(living !== undefined && over !== undefined);
  t.after(() => bench.driver.stop(living, 0));
  assert.equal((await bench.driver.stop(over, 100)).kind, 'gone');

  const later = new Bench(t, { ...bench.options });
  const next = must(await later.driver.mint(later.mintRequest(launch)));
  assert.equal(next.endpoint?.port, ended.endpoint?.port);
  assert.equal(codeOf(await later.driver.mint(later.mintRequest(launch))), 'ports-exhausted');
  await later.driver.retire('game', spare.activation);
  const freed = must(await later.driver.mint(later.mintRequest(launch)));
  assert.equal(freed.endpoint?.port, spare.endpoint?.port);
});

test('a socket path over 107 bytes is refused before anything is written, and the limit is named', async (t) => {
  const bench = new Bench(t);
  const runtime = join(bench.root, 'x'.repeat(100));
  const deep = new Bench(t, { roots: { runtime, logs: join(bench.root, 'l') } });
  const outcome = await deep.driver.mint(deep.mintRequest(deep.launch('polite')));
  assert.ok(!outcome.ok);
  assert.equal(outcome.refusal.code, 'socket-path-too-long');
  assert.match(outcome.refusal.reason, /107/);
  assert.ok(!existsSync(runtime));
});

test('F30: a refusal about a secret names it and its file, never its value', async (t) => {
  const bench = new Bench(t);
  const launch = bench.launch('polite', { secrets: tokenSecret(bench) });
  chmodSync(join(bench.root, 'token'), 0o640);
  const readable = await bench.driver.mint(bench.mintRequest(launch));
  assert.equal(codeOf(readable), 'secret-readable-by-others');
  writeFileSync(join(bench.root, 'token'), 'hunter2'.repeat(10_000));
  chmodSync(join(bench.root, 'token'), 0o600);
  const large = await bench.driver.mint(bench.mintRequest(launch));
  assert.equal(codeOf(large), 'secret-too-large');
  const missing = await bench.driver.mint(
    bench.mintRequest(bench.launch('polite', { secrets: [{ name: 'token', file: join(bench.root, 'none') }] })),
  );
  assert.equal(codeOf(missing), 'secret-missing');
  assert.doesNotMatch(JSON.stringify([readable, large, missing]), /hunter2/);
  assert.ok(!existsSync(join(bench.options.roots.runtime, 'a')));
});

test('retiring removes the named files, and a program’s own file keeps its place', async (t) => {
  const bench = new Bench(t);
  const activation = await bench.mint(bench.launch('polite', { secrets: tokenSecret(bench) }));
  const files = activationFiles(bench.options.roots.runtime, activation.activation);
  writeFileSync(join(files.directory, 'notes'), 'kept');
  await bench.driver.retire('game', activation.activation);
  assert.deepEqual(readdirSync(files.directory), ['notes']);
});
