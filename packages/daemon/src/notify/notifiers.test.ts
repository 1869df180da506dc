import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EngineApi, EngineEvent, IncidentEvent } from '@idunn/authority';
import { catalogue } from '@idunn/kernel';
import { QUEUE_LIMIT } from './notifier.ts';
import { createNotifiers } from './notifiers.ts';

const AT = '2026-11-30T00:00:00.000Z';
const notice = (n: number, state: IncidentEvent['state'], more: Partial<IncidentEvent> = {}): IncidentEvent => ({
  event: 'incident',
  at: AT,
  transaction: null,
  state,
  target: 'app',
  incident: `inc-${n}`,
  code: 'presence-lapsed',
  detail: 'it is silent',
  remedy: catalogue['presence-lapsed'].remedy,
  ...more,
});

/** Notifiers over receivers that a test stops and starts, by their paths; waits end when the test says so. */
async function bench(t: TestContext, untold: readonly IncidentEvent[], codes: Readonly<Record<string, string[]>>) {
  const arrived: string[] = [];
  const away = new Set<string>();
  const told: string[] = [];
  const waits: (() => void)[] = [];
  let happened = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    const refuses = away.has(request.url ?? '');
    if (!refuses) arrived.push(`${request.url} ${String(request.headers['webhook-id'])}`);
    happened.resolve();
    request.resume().on('end', () => response.writeHead(refuses ? 503 : 204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine: Partial<EngineApi> = {
    untold: () => untold,
    noteTold(incident, state) {
      told.push(`${incident} ${state}`);
      happened.resolve();
    },
  };
  const notifiers = createNotifiers({
    fleet: 'home',
    files: Object.entries(codes).map(([id, only]) => ({
      id,
      webhook: `${url}/${id}`,
      ...(only.length === 0 ? {} : { codes: only }),
    })),
    engine: engine as EngineApi,
    timers: {
      after(_ms, fire) {
        waits.push(fire);
        happened.resolve();
        return () => undefined;
      },
    },
    means: { wallMs: () => 0, uid: 0 },
    redact: async (_target, text) => text,
    log: () => undefined,
  });
  t.after(() => notifiers.stop());
  /** Waits until it holds; every wait of a way that has begun is over at once where `hurries`. */
  const until = async (holds: () => boolean, hurries = true): Promise<void> => {
    while (!holds()) {
      if (hurries) for (const fire of waits.splice(0)) fire();
      await happened.promise;
      happened = Promise.withResolvers();
    }
  };
  const waiting = (): number => waits.length;
  return { notifiers, arrived, away, told, until, waiting };
}

test('what an earlier daemon had not told is told in order, and counts as told once every way has it', async (t) => {
  const untold = [notice(1, 'closed'), notice(2, 'opened'), notice(2, 'closed'), notice(3, 'opened')];
  const { notifiers, arrived, away, told, until, waiting } = await bench(t, untold, { pager: [], mail: [] });
  away.add('/mail');
  notifiers.start();
  await until(() => arrived.length === 4 && waiting() > 0, false);
  assert.deepEqual(told, [], 'one way has them all, the other none');
  away.clear();
  await until(() => told.length === 4);
  const all = ['inc-1-closed', 'inc-2-opened', 'inc-2-closed', 'inc-3-opened'];
  for (const way of ['/pager', '/mail']) {
    assert.deepEqual(
      arrived.filter((one) => one.startsWith(way)),
      all.map((id) => `${way} ${id}`),
    );
  }
  assert.deepEqual(told, ['inc-1 closed', 'inc-2 opened', 'inc-2 closed', 'inc-3 opened']);
});

test('what no way asks for counts as told at once; without any way an opening stays for a later one', async (t) => {
  const untold = [notice(1, 'opened'), notice(1, 'closed')];
  const some = await bench(t, untold, { pager: ['operator-required'] });
  some.notifiers.start();
  await some.until(() => some.told.length === 2);
  assert.deepEqual([some.told, some.arrived], [['inc-1 opened', 'inc-1 closed'], []]);
  const none = await bench(t, untold, {});
  none.notifiers.start();
  await none.until(() => none.told.length === 1);
  assert.deepEqual(none.told, ['inc-1 closed']);
});

test('a notice that is let go for newer ones never counts as told', async (t) => {
  const { notifiers, arrived, away, told, until, waiting } = await bench(t, [], { pager: [] });
  away.add('/pager');
  notifiers.hear(notice(0, 'opened'));
  await until(() => waiting() === 1, false);
  for (let n = 1; n <= QUEUE_LIMIT; n += 1) notifiers.hear(notice(n, 'closed'));
  // Each is in the queue before the way is asked again.
  await new Promise(setImmediate);
  away.clear();
  await until(() => told.length === QUEUE_LIMIT);
  assert.equal(arrived.length, QUEUE_LIMIT);
  assert.ok(!told.includes('inc-0 opened') && told.includes('inc-1 closed'));
});

test('a certificate that runs out is told to the way that asked for it, and then counts as told', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-notifiers-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'told.json');
  const words = ['process.stdin.pipe(require("node:fs").createWriteStream(process.argv[1], { flags: "a" }))', file];
  const told = Promise.withResolvers<string>();
  const engine: Partial<EngineApi> = { noteTold: (incident, state) => told.resolve(`${incident} ${state}`) };
  const code = 'route-certificate-expiring';
  const notifiers = createNotifiers({
    fleet: 'home',
    files: [{ id: 'mail', command: [process.execPath, '-e', ...words], codes: [code] }],
    engine: engine as EngineApi,
    timers: { after: () => () => undefined },
    means: { wallMs: () => 0, uid: 0 },
    redact: async (_target, text) => text,
    log: (text) => told.reject(new Error(text)),
  });
  t.after(() => notifiers.stop());
  const detail = 'site.pem runs out on 2026-12-07T00:00:00.000Z';
  const about = { target: 'ghostlight', code, detail, remedy: catalogue[code].remedy, incident: 'inc-1' } as const;
  const opened = {
    event: 'incident',
    at: '2026-11-30T00:00:00.000Z',
    transaction: null,
    state: 'opened',
    ...about,
  } as const satisfies EngineEvent;
  notifiers.hear(opened);
  assert.equal(await told.promise, 'inc-1 opened');
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), {
    schema: 'idunn.notice/v1',
    fleet: 'home',
    at: opened.at,
    state: 'opened',
    ...about,
  });
});
