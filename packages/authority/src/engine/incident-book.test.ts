import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IncidentCode } from '../model/incident-code.ts';
import type { IncidentEvent } from './api.ts';
import { type Causes, CLOSED_LIMIT } from './incident-book.ts';
import { incidentBench, LOST } from './testing/incident-bench.ts';

const WELL: Causes = new Map();
const amiss = (code: IncidentCode = 'presence-lapsed'): Causes => new Map([[code, 'it is silent']]);
const wordOf = ({ incident, state }: IncidentEvent): string => `${incident} ${state}`;

test('a daemon that dies at any step leaves no opening and no closing untold, and then no record', async () => {
  let diesAt = 1;
  for (let died = true; died; diesAt += 1) {
    const { daemon, pass, records, history, arrived, faults } = incidentBench();
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
  const { daemon, pass, records, arrived, told } = incidentBench();
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
  const { daemon, pass, records, arrived } = incidentBench();
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
  const { daemon, pass, records, told } = incidentBench();
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
  const { daemon, pass, records } = incidentBench();
  const { book } = daemon({ takes: () => false });
  for (let n = 0; n < CLOSED_LIMIT + 2; n += 1) book.report(`app-${n}`, amiss());
  await pass(2_000);
  for (let n = 0; n < CLOSED_LIMIT + 2; n += 1) book.report(`app-${n}`, WELL);
  await pass(10_000);
  assert.equal(records.size, CLOSED_LIMIT);
  assert.ok(!records.has('inc-2') && records.has('inc-3') && records.has(`inc-${CLOSED_LIMIT + 2}`));
  // The next daemon reads them in the order of their ids, and lets go of the oldest all the same.
  const next = daemon({ takes: () => false });
  await next.begin();
  next.book.report('app', amiss());
  await pass(2_000);
  next.book.report('app', WELL);
  await pass(10_000);
  assert.equal(records.size, CLOSED_LIMIT);
  assert.ok(!records.has('inc-3') && records.has('inc-4'));
});

for (const how of LOST) {
  test(`F27: a store whose answer is lost, ${how}, leaves each change recorded and told once`, async () => {
    for (const keepsEnds of [true, false]) {
      const { daemon, pass, lose, records, history, told } = incidentBench();
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
      assert.deepEqual(book.all(), []);
    }
  });
}

test('I10: what a part cannot say now neither opens nor closes anything, also not for the next daemon', async () => {
  const { daemon, pass, told } = incidentBench();
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
  const { daemon, pass, told } = incidentBench();
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

test('a cause that ends while its opening is written is closed; one that comes back meanwhile is opened', async () => {
  const { daemon, pass, during, told } = incidentBench();
  const { book } = daemon();
  book.report('app', amiss());
  during(() => book.report('app', WELL));
  await pass(10_000);
  assert.deepEqual(told, ['opened presence-lapsed', 'closed presence-lapsed']);
  book.report('app', amiss());
  await pass(2_000);
  book.report('app', WELL);
  during(() => book.report('app', amiss()));
  await pass(10_000);
  assert.deepEqual(told.slice(2), ['opened presence-lapsed', 'closed presence-lapsed', 'opened presence-lapsed']);
});

test('F28: a store that cannot be written is told all the same, once, until something was written again', async () => {
  const { daemon, pass, fill, history, arrived } = incidentBench();
  const first = daemon();
  const { book } = first;
  await first.begin();
  fill(true);
  book.report('app', amiss('store-fault'));
  await pass(30_000);
  assert.deepEqual(arrived.map(wordOf), ['inc-3 opened'], 'the two that failed first have no record');
  assert.deepEqual([arrived[0]?.target, arrived[0]?.code], ['_fleet', 'store-fault']);
  assert.match(arrived[0]?.detail ?? '', /the disk is full/);
  assert.deepEqual(
    book.all().map(({ subject, code }) => [subject, code]),
    [['_fleet', 'store-fault']],
  );
  // Its cause is over before anything of it was written: what was told closes nevertheless.
  book.report('app', WELL);
  await pass(10_000);
  assert.equal(arrived.length, 1, 'nothing shows that it is over');
  fill(false);
  await pass(10_000);
  assert.deepEqual(arrived.map(wordOf), ['inc-3 opened', 'inc-3 closed']);
  assert.deepEqual(book.all(), []);
  assert.deepEqual(
    history.map(({ kind, subject }) => [kind, subject]),
    [
      ['incident.opened', '_fleet'],
      ['incident.closed', '_fleet'],
    ],
  );
});
