import assert from 'node:assert/strict';
import { chown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  absent,
  type HistoryEntry,
  openRecordStore,
  type RecordStore,
  StoreFault,
  seen,
  systemClock,
  systemTimers,
} from '@idunn/kernel';
import { RECORD_KINDS } from '../records/kinds.ts';
import { createStops, stopFile } from '../stops/port.ts';
import { encodeStop, type StopKind, WHOLE_FLEET } from '../stops/record.ts';
import { standingStops } from '../stops/standing.ts';
import { makeStopDirectory, writeStop } from '../stops/write.ts';
import type { EngineCore } from './core.ts';
import type { Causes } from './incident-book.ts';
import { Journal } from './journal.ts';
import { StopBook } from './stop-book.ts';

const UID = process.geteuid?.() ?? 0;
const STEWARD = UID === 0 ? 1 : UID;

/** Books over one store and one directory of stops, as daemons come and go. */
async function bench(t: TestContext) {
  const state = await mkdtemp(join(tmpdir(), 'idunn-stop-book-'));
  const clock = systemClock();
  const timers = systemTimers;
  for (const kind of ['freezes', 'holds', 'grace']) await makeStopDirectory(join(state, kind));
  const store = await openRecordStore({ file: join(state, 'records.db'), kinds: RECORD_KINDS, clock });
  const steward = { user: 'grace', store: join(state, 'grace/freeze.json') };
  const faults: unknown[] = [];
  const reported = new Map<string, Causes>();
  const changed: string[] = [];
  /** The store writes the next batch, cannot tell, and cannot be read for once. */
  const unheard = { next: false, read: false };
  const doubtful: RecordStore = {
    ...store,
    async get(key) {
      if (!unheard.read) return store.get(key);
      unheard.read = false;
      throw new StoreFault('store-unreadable', 'the disk is away');
    },
    async commit(batch) {
      const result = await store.commit(batch);
      if (!unheard.next) return result;
      Object.assign(unheard, { next: false, read: true });
      return { kind: 'unknown', because: 'the answer was lost' };
    },
  };
  let waiting: (() => void)[] = [];
  const happened = (): void => {
    for (const tell of waiting.splice(0)) tell();
  };
  const daemons: { stop(): Promise<void> }[] = [];
  t.after(async () => {
    for (const one of daemons) await one.stop();
    await store.close();
    await rm(state, { recursive: true });
    assert.deepEqual(faults, []);
  });

  const daemon = (): { stop(): Promise<void> } => {
    let over = false;
    const uidOf = async (login: string) => (login === 'grace' ? seen(STEWARD) : absent);
    const places = { state, uid: UID, uidOf, owner: 'ada' };
    const freeze = {
      ...createStops(places),
      ...standingStops({ ...places, targets: () => ['app'], stewards: () => [{ target: 'app', steward }] }),
    };
    const core = {
      ports: { freeze, clock, timers },
      journal: new Journal(doubtful),
      get stopped() {
        return over;
      },
      fault: (fault: unknown) => faults.push(fault),
      incidents: {
        report: (target: string, causes: Causes) => {
          reported.set(target, causes);
          happened();
        },
      },
    } as unknown as EngineCore;
    const book = new StopBook(core, (target) => {
      changed.push(target);
      happened();
    });
    book.start();
    const running = {
      stop: () => {
        over = true;
        return book.stop();
      },
    };
    daemons.push(running);
    return running;
  };

  /** Waits for as long as it takes until so many entries stand. */
  const entries = async (count: number): Promise<readonly HistoryEntry[]> => {
    for (;;) {
      const next = new Promise<void>((resolve) => (waiting = [...waiting, resolve]));
      const found = await store.history({});
      if (found.length >= count) return found;
      await next;
    }
  };
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => (waiting = [...waiting, resolve]));
  };
  const write = async (kind: StopKind, target: string, verb: 'engaged' | 'clear', reason = 'release day') => {
    const about = { file: stopFile(state, kind, target), kind, target, ownerUid: UID };
    const words = { by: 'somebody', reason, since: '2026-11-30T00:00:00.000Z', freshId: `${kind}-${verb}` };
    assert.ok((await writeStop(about, { state: verb, ...words })).ok);
  };
  return { state, store, steward, daemon, entries, until, write, reported, changed, unheard, faults };
}

const told = ({ kind, subject, actor, body }: HistoryEntry): unknown[] => {
  const { by, reason, steward, unseen } = body as Record<string, unknown>;
  return [kind, subject, actor, by, reason, steward, unseen];
};

test('I8: each engaging and clearing is in the history with who, why and when, as it happens', async (t) => {
  const { daemon, entries, write } = await bench(t);
  daemon();
  await write('freeze', 'app', 'engaged');
  await entries(1);
  await write('hold', WHOLE_FLEET, 'engaged', 'moving house');
  await entries(2);
  await write('freeze', 'app', 'clear', '');
  const found = await entries(3);
  assert.deepEqual(found.map(told), [
    ['freeze.engaged', 'app', 'ada', 'somebody', 'release day', null, 0],
    ['hold.engaged', WHOLE_FLEET, 'ada', 'somebody', 'moving house', null, 0],
    ['freeze.cleared', 'app', 'ada', 'somebody', '', null, 0],
  ]);
  assert.match(JSON.stringify(found[0]?.body), /"since":"2026-11-30T00:00:00.000Z"/);
});

test('what was written while no daemon ran is told once by the next, which counts what nobody saw', async (t) => {
  const { daemon, entries, write, until, reported } = await bench(t);
  for (const verb of ['engaged', 'clear', 'engaged'] as const) await write('freeze', 'app', verb, `the ${verb}`);
  await daemon().stop();
  const first = daemon();
  assert.deepEqual((await entries(1)).map(told), [
    ['freeze.engaged', 'app', 'ada', 'somebody', 'the engaged', null, 2],
  ]);
  await first.stop();
  reported.clear();
  daemon();
  await until(() => reported.has('app'));
  assert.equal((await entries(1)).length, 1, 'what stands as it was seen is no news');
});

test('I8: a steward is named by the binding and the owner of the file, never by its words', async (t) => {
  const { daemon, entries, until, reported, steward } = await bench(t);
  daemon();
  const about = { schema: 'idunn.freeze/v1', target: 'app', state: 'engaged', since: '2026-11-30T00:00:00Z' } as const;
  const bytes = encodeStop({ ...about, by: 'the operator', reason: 'rehearsals', sequence: 1 });
  const draft = join(steward.store, '../draft');
  await writeFile(draft, bytes);
  await chown(draft, STEWARD, STEWARD);
  await rename(draft, steward.store);
  assert.deepEqual((await entries(1)).map(told), [
    ['freeze.engaged', 'app', 'grace', 'the operator', 'rehearsals', 'grace', 0],
  ]);
  await rm(steward.store);
  const [, removed] = await entries(2);
  assert.deepEqual([removed?.kind, removed?.actor], ['freeze.removed', 'unknown'], 'nothing proves who removed it');
  await until(() => reported.get('app')?.size === 0);
});

test('I10: a stop that cannot be read is in the history and an incident, until it is replaced', async (t) => {
  const { state, daemon, entries, write, until, reported } = await bench(t);
  daemon();
  await mkdir(stopFile(state, 'hold', 'app'));
  await until(() => reported.get('app')?.has('hold-unreadable') === true);
  const [unreadable] = await entries(1);
  assert.deepEqual([unreadable?.kind, unreadable?.actor], ['hold.unreadable', 'unknown']);
  await rm(stopFile(state, 'hold', 'app'), { recursive: true });
  await write('hold', 'app', 'clear');
  await until(() => reported.get('app')?.size === 0);
  assert.deepEqual((await entries(2)).at(-1)?.kind, 'hold.cleared');
});

test('F27: a stop whose record was written unheard is told to whoever waits all the same', async (t) => {
  const { daemon, entries, until, write, changed, unheard, faults } = await bench(t);
  daemon();
  await write('hold', 'app', 'engaged');
  await entries(1);
  await until(() => changed.includes('app'));
  changed.length = 0;
  unheard.next = true;
  await write('hold', 'app', 'clear');
  await until(() => changed.length > 0);
  assert.deepEqual(changed, [WHOLE_FLEET]);
  assert.deepEqual(
    (await entries(2)).map(({ kind }) => kind),
    ['hold.engaged', 'hold.cleared'],
  );
  assert.equal(faults.splice(0).length, 1);
});
