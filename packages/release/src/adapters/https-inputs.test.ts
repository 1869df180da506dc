import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { digestBytes, type Outcome, randomIds } from '@idunn/kernel';
import type { PinnedInput } from '../model/plan.ts';
import { stagePaths } from '../source/stage-paths.ts';
import { httpsServer, testCertificate } from '../testing/https-server.ts';
import { createHttpsInputs } from './https-inputs.ts';

const STAGE = `app-${'0'.repeat(64)}`;
const OTHER = `app-${'1'.repeat(64)}`;
const bytes = Buffer.alloc(300_000, 'idunn');

async function bench(context: TestContext, listener: RequestListener, ca: string | undefined = testCertificate) {
  const root = await mkdtemp(join(tmpdir(), 'idunn-inputs-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  const [cache, stages] = [join(root, 'cache'), join(root, 'stages')];
  for (const stage of [STAGE, OTHER]) await mkdir(stagePaths(stages, stage).inputs, { recursive: true });
  const server = await httpsServer(context, listener);
  const inputs = createHttpsInputs({ cache, stages, ids: randomIds, ...(ca === undefined ? {} : { ca }) });
  const input = (more: Partial<PinnedInput> = {}): PinnedInput => ({
    id: 'map',
    url: `${server.url}/map`,
    sha256: digestBytes(bytes),
    maxBytes: 1_000_000,
    ...more,
  });
  const place = (more: Partial<PinnedInput> = {}, stage = STAGE, signal = new AbortController().signal) =>
    inputs.place(input(more), stage, signal);
  const placed = (stage = STAGE): string => join(stagePaths(stages, stage).inputs, 'map');
  return { cache, server, place, placed };
}

const serve: RequestListener = (_request, response) => void response.end(bytes);

function refusalOf(outcome: Outcome<unknown>) {
  assert.ok(!outcome.ok, 'it was not refused');
  return outcome.refusal;
}

test('an input is fetched once, verified, and placed read-only in each stage', async (context) => {
  const { server, place, placed, cache } = await bench(context, serve);
  assert.deepEqual(await place(), { ok: true, value: { fetched: true } });
  assert.deepEqual(await place({}, OTHER), { ok: true, value: { fetched: false } });
  assert.deepEqual(await place(), { ok: true, value: { fetched: false } });
  assert.equal(server.requests.length, 1);
  assert.deepEqual(await readFile(placed()), bytes);
  assert.equal((await stat(placed())).mode & 0o777, 0o444);
  assert.deepEqual(await readdir(cache), [digestBytes(bytes).slice('sha256:'.length)]);
  assert.notEqual(
    (await stat(placed())).ino,
    (await stat(placed(OTHER))).ino,
    'a step could alter what another stage sees',
  );
});

test('two stages that want it at once share one fetch', async (context) => {
  const { server, place } = await bench(context, serve);
  const both = await Promise.all([place(), place({}, OTHER)]);
  assert.ok(both.every(({ ok }) => ok));
  assert.equal(server.requests.length, 1);
});

test('a fetch that two wait for outlives the withdrawal of one', async (context) => {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { place } = await bench(context, (_request, response) => {
    asked.resolve();
    void released.promise.then(() => response.end(bytes));
  });
  const controller = new AbortController();
  const first = place({}, STAGE, controller.signal);
  const second = place({}, OTHER);
  await asked.promise;
  controller.abort();
  assert.equal(refusalOf(await first).code, 'work-aborted');
  released.resolve();
  assert.ok((await second).ok);
});

test('a fetch that nobody waits for any more is withdrawn at the server too', async (context) => {
  const closed = Promise.withResolvers<void>();
  const controller = new AbortController();
  const { place, cache } = await bench(context, (_request, response) => {
    response.once('close', closed.resolve);
    controller.abort();
  });
  assert.equal(refusalOf(await place({}, STAGE, controller.signal)).code, 'work-aborted');
  await closed.promise;
  assert.deepEqual(
    (await readdir(cache)).filter((name) => !name.startsWith('.')),
    [],
  );
});

test('I2: other bytes than the pinned ones are refused and not kept', async (context) => {
  const { place, cache } = await bench(context, serve);
  const refusal = refusalOf(await place({ sha256: digestBytes('other') }));
  assert.equal(refusal.code, 'input-digest-mismatch');
  assert.match(refusal.reason, new RegExp(digestBytes(bytes)));
  assert.deepEqual(await readdir(cache), []);
});

test('a kept file that was altered is fetched again, a placed one is replaced', async (context) => {
  const { server, place, placed, cache } = await bench(context, serve);
  await place();
  for (const path of [placed(), join(cache, digestBytes(bytes).slice('sha256:'.length))]) {
    await chmod(path, 0o600);
    await writeFile(path, 'altered');
  }
  assert.deepEqual(await place(), { ok: true, value: { fetched: true } });
  assert.equal(server.requests.length, 2);
  assert.deepEqual(await readFile(placed()), bytes);
});

test('an endless answer is given up at the limit', async (context) => {
  const { place, cache } = await bench(context, (_request, response) => {
    const chunk = Buffer.alloc(65_536);
    const more = (): void => void response.write(chunk, (error) => error ?? more());
    more();
  });
  assert.equal(refusalOf(await place()).code, 'input-too-large');
  assert.deepEqual(await readdir(cache), []);
});

test('redirects are followed to https only, and not for ever', async (context) => {
  const { place, server } = await bench(context, (request, response) => {
    const to = request.url === '/map' ? '/moved' : request.url === '/plain' ? 'http://localhost:1/x' : '/loop';
    if (request.url === '/moved') response.end(bytes);
    else response.writeHead(302, { location: to }).end();
  });
  assert.ok((await place()).ok);
  const digest = digestBytes('never kept');
  assert.match(refusalOf(await place({ sha256: digest, url: `${server.url}/plain` })).reason, /only https is followed/);
  assert.match(refusalOf(await place({ sha256: digest, url: `${server.url}/loop` })).reason, /more than 5 redirects/);
});

test('a server that answers otherwise, is unknown or is not there is named with the reason', async (context) => {
  const { place } = await bench(context, (_request, response) => void response.writeHead(404).end());
  assert.match(refusalOf(await place()).reason, /the server answered 404/);
  assert.match(refusalOf(await place({ url: 'https://127.0.0.1:1/x' })).reason, /ECONNREFUSED/);
  const { place: untrusting } = await bench(context, serve, '');
  assert.match(refusalOf(await untrusting()).reason, /certificate/);
});

test('an answer that breaks off is no input', async (context) => {
  const { place, cache } = await bench(context, (_request, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 1_000), () => response.destroy());
  });
  assert.equal(refusalOf(await place()).code, 'input-unreachable');
  assert.deepEqual(await readdir(cache), []);
});
