import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Batch, CommitResult, HistoryDraft, RecordStore, StoredRecord } from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import type { IncidentCode } from '../model/incident-code.ts';
import type { EnginePorts } from '../ports/engine-ports.ts';
import { incidentSchema } from '../records/incident.ts';
import type { EngineEvent, IncidentEvent } from './api.ts';
import { type Causes, CLOSED_LIMIT, IncidentBook } from './incident-book.ts';
import { Journal } from './journal.ts';

const WELL: Causes = new Map();
const amiss = (code: IncidentCode = 'presence-lapsed'): Causes => new Map([[code, 'it is silent']]);
/** No step of a daemon that died is taken any more, and none of its questions is answered. */
const never = (): Promise<never> => new Promise(() => undefined);

/** What is durable, and what arrived at somebody who is told, as daemons come and go. */
function bench() {
  const time = new FakeTime();
  const records = new Map<string, StoredRecord>();
  const history: HistoryDraft[] = [];
  const arrived: IncidentEvent[] = [];
  const told: string[] = [];
  const faults: unknown[] = [];
  let ids = 0;
  let generations = 0;
  /** What becomes of the next commit's answer. */
  let lost: 'written' | 'not written' | null = null;

  function commit({ mutations, history: drafts = [] }: Batch): CommitResult {
    const answer = lost;
    lost = null;
    if (answer === 'not written') return { kind: 'unknown', because: 'nothing was written' };
    for (const { key, expect } of mutations) {
      const actual = records.get(key.id)?.generation ?? 'absent';
      if (expect !== 'any' && expect !== actual) return { kind: 'conflict', key, actual };
    }
    generations += 1;
    for (const { key, next } of mutations) {
      if (next === null) records.delete(key.id);
      else records.set(key.id, { key, generation: generations, value: incidentSchema.parse(next) });
    }
    history.push(...drafts);
    if (answer === 'written') return { kind: 'unknown', because: 'the answer was lost' };
    return { kind: 'committed', stateVersion: 0, generations: mutations.map(() => generations) };
  }

  /** `takes`: whoever is told answers. It dies at its `diesAt`th step, before or after what is durable or arrives. */
  function daemon({ takes = (): boolean => true, keepsEnds = true, diesAt = Number.POSITIVE_INFINITY } = {}) {
    let steps = 0;
    let dead = false;
    const step = (): boolean => {
      steps += 1;
      dead ||= steps >= diesAt;
      return !dead;
    };
    const store = {
      get: async ({ id }: { id: string }) => (dead ? never() : (records.get(id) ?? null)),
      list: async () => (dead ? never() : [...records.values()]),
      stateVersion: async () => 0,
      async commit(batch: Batch) {
        if (!step()) return never();
        const result = commit(batch);
        return step() ? result : never();
      },
    } as unknown as RecordStore;
    const hear = (event: EngineEvent): void => {
      if (dead || event.event !== 'incident') return;
      told.push(`${event.state} ${event.code}`);
      if (!takes() || !step()) return;
      arrived.push(event);
      if (step()) book.told(event.incident, event.state);
    };
    const fresh = (prefix: string): string => `${prefix}-${(ids += 1)}`;
    const ports = { clock: time.clock, timers: time, ids: { fresh } } as unknown as EnginePorts;
    const book = new IncidentBook(ports, new Journal(store), hear, (fault) => faults.push(fault), keepsEnds);
    return {
      book,
      get died() {
        return dead;
      },
      /** As a daemon begins: what is recorded, and then whatever was not taken. */
      async begin(): Promise<void> {
        await book.load();
        for (const event of book.untold()) hear(event);
      },
    };
  }

  /** Lets time pass, and everything that it brings about. */
  async function pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 500) {
      time.pass(Math.min(leftMs, 500));
      await new Promise(setImmediate);
    }
  }
  const lose = (how: 'written' | 'not written'): void => {
    lost = how;
  };
  return { daemon, pass, lose, records, history, arrived, told, faults };
}

const wordOf = ({ incident, state }: IncidentEvent): string => `${incident} ${state}`;

test('a daemon that dies at any step leaves no opening and no closing untold, and then no record', async () => {
  let diesAt = 1;
  for (let died = true; died; diesAt += 1) {
    const { daemon, pass, records, history, arrived, faults } = bench();
    const first = daemon({ diesAt });
    await first.begin();
    first.book.report('app', amiss());
    await pass(2_000);
    first.book.report('app', WELL);
    await pass(5_000);
    ({ died } = first);
    const second = daemon();
    await second.begin();
    await pass(5_000);
    const at = `it died at step ${diesAt}`;
    assert.deepEqual([...records.keys()], [], at);
    assert.deepEqual(faults, [], at);
    const kinds = history.map(({ kind }) => kind);
    // Before that it was open nothing was durable, and nothing is told.
    const all = diesAt === 1 ? [] : ['inc-1 opened', 'inc-1 closed'];
    assert.deepEqual(kinds, all.length === 0 ? [] : ['incident.opened', 'incident.closed'], at);
    assert.deepEqual([...new Set(arrived.map(wordOf))], all, at);
    assert.ok(arrived.length <= all.length + 1, 'one of them twice at most');
  }
  // Before and after each of four commits and two deliveries.
  assert.equal(diesAt, 14);
});

test('what nobody took the next daemon tells in the same words, also where the cause came back meanwhile', async () => {
  const { daemon, pass, records, arrived, told } = bench();
  const first = daemon({ takes: () => false });
  await first.begin();
  first.book.report('app', amiss());
  await pass(2_000);
  first.book.report('app', WELL);
  await pass(4_000);
  first.book.report('app', amiss());
  await pass(2_000);
  assert.deepEqual(told, ['opened presence-lapsed', 'closed presence-lapsed', 'opened presence-lapsed']);
  const ended = first.book.untold()[1];
  const second = daemon();
  await second.begin();
  second.book.report('app', amiss());
  await pass(4_000);
  assert.deepEqual(arrived.map(wordOf), ['inc-1 opened', 'inc-1 closed', 'inc-2 opened']);
  assert.deepEqual(arrived[1], ended);
  assert.deepEqual([...records.keys()], ['app:presence-lapsed']);
  assert.deepEqual(
    second.book.all().map(({ id, told }) => [id, told]),
    [['inc-2', true]],
  );
});

test('what is over before its opening was taken is open nowhere, and both are told in their order', async () => {
  const { daemon, pass, records, arrived } = bench();
  let away = true;
  const first = daemon({ takes: () => !away });
  await first.begin();
  first.book.report('app', amiss());
  await pass(2_000);
  first.book.report('app', WELL);
  await pass(4_000);
  assert.deepEqual(first.book.all(), []);
  assert.deepEqual(
    first.book.untold().map(({ state }) => state),
    ['opened', 'closed'],
  );
  away = false;
  for (const { incident, state } of first.book.untold()) {
    first.book.told(incident, state);
    await pass(500);
  }
  assert.deepEqual([...records.keys()], []);
  await daemon().begin();
  assert.deepEqual(arrived, [], 'nobody is told again');
});

test('where nobody is told, what is over leaves no record', async () => {
  const { daemon, pass, records, told } = bench();
  const first = daemon({ takes: () => false, keepsEnds: false });
  await first.begin();
  first.book.report('app', amiss());
  await pass(2_000);
  assert.equal(records.size, 1);
  first.book.report('app', WELL);
  await pass(4_000);
  assert.equal(records.size, 0);
  assert.deepEqual(told, ['opened presence-lapsed', 'closed presence-lapsed']);
});

test('of ends that nobody takes the newest are kept, and no more than the limit', async () => {
  const { daemon, pass, records } = bench();
  const { book } = daemon({ takes: () => false });
  for (let n = 0; n < CLOSED_LIMIT + 2; n += 1) book.report(`app-${n}`, amiss());
  await pass(2_000);
  for (let n = 0; n < CLOSED_LIMIT + 2; n += 1) book.report(`app-${n}`, WELL);
  await pass(10_000);
  assert.equal(records.size, CLOSED_LIMIT);
  assert.ok(!records.has('inc-2') && records.has('inc-3') && records.has(`inc-${CLOSED_LIMIT + 2}`));
});

for (const how of ['written', 'not written'] as const) {
  test(`F27: a store whose answer is lost, ${how}, leaves each change recorded and told once`, async () => {
    for (const keepsEnds of [true, false]) {
      const { daemon, pass, lose, records, history, told } = bench();
      const { book } = daemon({ takes: () => false, keepsEnds });
      book.report('app', amiss());
      lose(how);
      await pass(8_000);
      book.report('app', WELL);
      lose(how);
      await pass(10_000);
      assert.deepEqual(told, ['opened presence-lapsed', 'closed presence-lapsed']);
      assert.deepEqual(
        history.map(({ kind }) => kind),
        ['incident.opened', 'incident.closed'],
      );
      assert.equal(records.size, keepsEnds ? 1 : 0);
    }
  });
}

test('I10: what a part cannot say now neither opens nor closes anything, also not for the next daemon', async () => {
  const { daemon, pass, told } = bench();
  const code = 'route-certificate-unusable';
  const doubt = new Set<IncidentCode>([code]);
  const first = daemon();
  await first.begin();
  first.book.report('app', WELL, 'certificates', doubt);
  await pass(5_000);
  assert.deepEqual(told, []);
  first.book.report('app', amiss(code), 'certificates');
  await pass(2_000);
  first.book.report('app', WELL, 'certificates', doubt);
  await pass(10_000);
  const second = daemon();
  await second.begin();
  second.book.report('app', WELL, 'certificates', doubt);
  await pass(10_000);
  assert.deepEqual(told, [`opened ${code}`]);
  second.book.report('app', WELL, 'certificates');
  await pass(5_000);
  assert.deepEqual(told, [`opened ${code}`, `closed ${code}`]);
});

test('a cause of less than a second is told to nobody; one that comes back within three has not ended', async () => {
  const { daemon, pass, told } = bench();
  const { book } = daemon();
  book.report('app', amiss());
  await pass(500);
  book.report('app', WELL);
  await pass(5_000);
  assert.deepEqual(told, []);
  book.report('app', amiss());
  await pass(2_000);
  book.report('app', WELL);
  await pass(2_500);
  book.report('app', amiss());
  await pass(5_000);
  assert.deepEqual(told, ['opened presence-lapsed']);
});
