import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Notice, Notifier, QUEUE_LIMIT, type Way } from './notifier.ts';
import { wayOf } from './ways.ts';

const UNTIL_ITS_LIMIT = new AbortController().signal;

const notice = (n: number, more: Partial<Notice> = {}): Notice => ({
  schema: 'idunn.notice/v1',
  fleet: 'home',
  at: '2026-11-30T00:00:00.000Z',
  target: 'app',
  state: 'opened',
  incident: `inc-${n}`,
  code: 'restarted-too-often',
  detail: 'app was restarted 6 times within an hour',
  remedy: 'Read idunn logs.',
  ...more,
});

/** A notifier whose waits pass when the test says so, over a way that answers as it is told. */
function bench(fails: () => boolean) {
  const delivered: string[] = [];
  const taken: string[] = [];
  const waits: { ms: number; fire: () => void }[] = [];
  const way: Way = {
    id: 'pager',
    deliver: async ({ incident }) => {
      if (fails()) throw new Error('it is down');
      delivered.push(incident);
    },
  };
  const timers = {
    after: (ms: number, fire: () => void) => {
      waits.push({ ms, fire });
      return () => undefined;
    },
  };
  const notifier = new Notifier(
    way,
    timers,
    ({ incident }) => taken.push(incident),
    () => undefined,
  );
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { notifier, delivered, taken, waits, settled };
}

test('a notice that was not taken is told again with a growing wait, in order, until it is', async () => {
  let down = true;
  const { notifier, delivered, taken, waits, settled } = bench(() => down);
  notifier.tell(notice(1));
  notifier.tell(notice(2));
  await settled();
  for (let n = 0; n < 12; n += 1) {
    waits.at(-1)?.fire();
    await settled();
  }
  assert.deepEqual(delivered, []);
  assert.deepEqual(
    waits.slice(0, 4).map(({ ms }) => ms),
    [1_000, 2_000, 4_000, 8_000],
  );
  assert.equal(Math.max(...waits.map(({ ms }) => ms)), 300_000);
  down = false;
  waits.at(-1)?.fire();
  await settled();
  await settled();
  assert.deepEqual(
    [delivered, taken],
    [
      ['inc-1', 'inc-2'],
      ['inc-1', 'inc-2'],
    ],
  );
});

test('a way that is down keeps so many notices and no more; the oldest go', async () => {
  let down = true;
  const { notifier, delivered, waits, settled } = bench(() => down);
  for (let n = 0; n <= QUEUE_LIMIT + 3; n += 1) notifier.tell(notice(n));
  await settled();
  down = false;
  waits.at(-1)?.fire();
  for (let n = 0; n < QUEUE_LIMIT; n += 1) await settled();
  assert.equal(delivered.length, QUEUE_LIMIT);
  assert.equal(delivered.at(-1), `inc-${QUEUE_LIMIT + 3}`);
});

const MEANS = { wallMs: () => 1_614_265_330_000, uid: process.geteuid?.() ?? 0 };

async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-notify-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

test('a webhook gets the notice as JSON with the token of its file; any answer but 2xx is none', async (t) => {
  const directory = await scratch(t);
  const tokenFile = join(directory, 'token');
  await writeFile(tokenFile, 'sesame\n', { mode: 0o600 });
  const asked: { method: string | undefined; token: string | undefined; body: string }[] = [];
  let status = 500;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      asked.push({ method: request.method, token: request.headers.authorization, body });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const way = wayOf({ id: 'pager', webhook: `http://127.0.0.1:${port}/page`, token_file: tokenFile }, MEANS);
  await assert.rejects(way.deliver(notice(1), UNTIL_ITS_LIMIT), /the webhook answered 500/);
  status = 204;
  await way.deliver(notice(1), UNTIL_ITS_LIMIT);
  assert.deepEqual(JSON.parse(asked[1]?.body ?? ''), notice(1));
  assert.deepEqual([asked[1]?.method, asked[1]?.token], ['POST', 'Bearer sesame']);
  assert.ok(!JSON.stringify(asked[1]?.body).includes('sesame'), 'F30');
});

test('a command gets the notice on its standard input, by argv; one that fails did not take it', async (t) => {
  const file = join(await scratch(t), 'told.json');
  const words = ['process.stdin.pipe(require("node:fs").createWriteStream(process.argv[1]))', file];
  await wayOf({ id: 'mail', command: [process.execPath, '-e', ...words] }, MEANS).deliver(notice(7), UNTIL_ITS_LIMIT);
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), notice(7));
  const failing = wayOf({ id: 'mail', command: [process.execPath, '-e', 'process.exit(3)'] }, MEANS);
  await assert.rejects(failing.deliver(notice(7), UNTIL_ITS_LIMIT), /the command ended with 3/);
  await assert.rejects(
    wayOf({ id: 'mail', command: ['/nowhere/page'] }, MEANS).deliver(notice(7), UNTIL_ITS_LIMIT),
    /ENOENT/,
  );
});

test('a command that hangs, or whose daemon ends, leaves nothing of its group behind', async (t) => {
  const script = 'setInterval(() => 0, 1e6); const { spawn } = require("node:child_process");'.concat(
    'const child = spawn(process.execPath, ["-e", "setInterval(() => 0, 1e6)"], { stdio: "ignore" });',
    'require("node:fs").appendFileSync(process.argv[1], `${child.pid}\\n`);',
  );
  const file = join(await scratch(t), 'children');
  await writeFile(file, '');
  const way = wayOf({ id: 'mail', command: [process.execPath, '-e', script, file] }, MEANS);
  const over = new AbortController();
  const delivery = way.deliver(notice(7), over.signal);
  while ((await readFile(file, 'utf8')) === '') await nextTurn();
  over.abort();
  await assert.rejects(delivery, /the command ended with SIGKILL/);
  const child = Number(await readFile(file, 'utf8'));
  while (await lives(child)) await nextTurn();
});

/** A zombie is only waited for. */
const lives = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) [ZX] /.test(stat),
    () => false,
  );

test('a webhook that answers without an end holds a delivery up for its patience at most', async (t) => {
  // That it is being worked on, again and again; or, once it was answered, a body that goes on.
  const answers = { head: '', more: 'HTTP/1.1 102 Processing\r\n\r\n' };
  const server = createSocketServer((socket) => {
    const { head, more } = answers;
    const tell = (): boolean => socket.writable && socket.write(more, () => setImmediate(tell));
    socket.on('error', () => undefined).write(head, tell);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const way = wayOf({ id: 'pager', webhook: `http://127.0.0.1:${port}/` }, MEANS, 200);
  await assert.rejects(way.deliver(notice(1), UNTIL_ITS_LIMIT), /did not answer in time/);
  Object.assign(answers, { head: 'HTTP/1.1 200 OK\r\n\r\n', more: 'x' });
  await way.deliver(notice(1), UNTIL_ITS_LIMIT);
});
