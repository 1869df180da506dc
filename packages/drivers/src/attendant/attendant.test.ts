import assert from 'node:assert/strict';
import { mkdir, rmdir } from 'node:fs/promises';
import { test } from 'node:test';
import { type Evidence, systemTimers } from '@idunn/kernel';
import { ControlLink } from '../helper/link.ts';
import { codeOf, must } from '../process/testing/bench.ts';
import { channelsOf } from './channels.ts';
import { type AttendantProtocol, heardSchema } from './protocol.ts';
import { AttendedBench, killed } from './testing/attended-bench.ts';

const STATE = {
  stateId: 'app',
  schema: 'v1',
  accepts: ['v1'],
  root: '/nowhere',
  stores: [],
  lease: 'file',
  fence: 'tree-empty',
} as const;

function value<T>(evidence: Evidence<T>): T {
  if (evidence.kind !== 'seen') throw new Error(evidence.kind === 'unknown' ? evidence.because : 'absent');
  return evidence.value;
}

test('I4: a program is spoken for to observer and daemon, with both signatures and the observed process', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const handle = await bench.attended();
  assert.equal(codeOf(await attendant.open(handle)), 'ok');
  await bench.until(() => bench.states(handle) === 'active' && bench.observed.length > 0);
  const { presence, ageMs } = value(attendant.presence(handle.activation));
  assert.deepEqual([presence.pid, presence.state, presence.epoch], [handle.identity.pid, 'active', null]);
  assert.ok(ageMs >= 0 && ageMs < 4_000, `${ageMs} ms old`);
  assert.equal(bench.observed[0]?.activation, handle.activation);
  const [known] = value(await attendant.attended());
  assert.deepEqual([known?.target, known?.reading?.good, known?.reading?.body], ['game', true, 'well']);
  assert.equal(value(await attendant.metrics()).targets, 1);
});

test('F5, F11: what the daemon hears of a program that went bad names the last answer', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const handle = await bench.attended();
  must(await attendant.open(handle));
  await bench.until(() => bench.states(handle) === 'active');
  bench.goesBad('no database');
  await bench.until(() => bench.states(handle) === 'active degraded');
  const { detail } = value(attendant.presence(handle.activation)).presence;
  assert.match(detail, /^bad 2 times in a row, the last: .*check ended with 1: no database$/);
});

test('the attendant that was killed comes back by itself and goes on from its file, nobody asking', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const handle = await bench.attended(STATE);
  must(await attendant.open(handle));
  must(await attendant.grant(handle.activation, { activation: handle.activation, stateId: 'app', epoch: 4 }));
  await bench.until(() => bench.states(handle) === 'warming active');
  await bench.until(() => bench.observed.at(-1)?.state === 'active');
  const first = value(await attendant.status()).pid;
  const before = bench.observed.length;
  await killed(first);
  await bench.until(() => bench.observed.length > before);
  const { epoch, state } = bench.observed.at(-1) ?? {};
  assert.deepEqual([state, epoch], ['active', 4], 'verdict and epoch survived');
  assert.notEqual(value(await attendant.status()).pid, first);
});

test('I10: nobody listens to a program while no attendant does; the next one listens from its own begin', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const handle = await bench.attended();
  assert.equal(attendant.listened?.(handle.activation), null);
  must(await attendant.open(handle));
  await bench.until(() => bench.states(handle) === 'active');
  const before = attendant.listened?.(handle.activation) ?? assert.fail();
  const hello = await attendant.status();
  assert.ok(hello.kind === 'seen');
  await killed(hello.value.pid);
  const words = bench.heard.length;
  await bench.until(() => bench.heard.length > words);
  const after = attendant.listened?.(handle.activation) ?? assert.fail();
  assert.ok(before.sinceMs <= before.untilMs && before.untilMs < after.sinceMs && after.sinceMs <= after.untilMs);
});

test('I9: an attendant that cannot be started is tried again, and is told of what was opened meanwhile', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const handle = await bench.attended();
  await mkdir(bench.controlSocket);
  const opened = await attendant.open(handle);
  assert.ok(!opened.ok);
  await rmdir(bench.controlSocket);
  await bench.until(() => bench.states(handle) === 'active');
});

test('I6: without a daemon the observer hears on, and the next daemon hears the newest word at once', async (t) => {
  const bench = new AttendedBench(t);
  const first = bench.attendant();
  const handle = await bench.attended();
  must(await first.open(handle));
  await bench.until(() => bench.states(handle) === 'active');
  first.letGo();
  const before = bench.observed.length;
  await bench.until(() => bench.observed.length > before);
  const second = bench.attendant();
  must(await second.open(handle));
  await bench.until(() => second.presence(handle.activation).kind === 'seen');
});

test('I6: a new daemon is told of the programs that it asks for, and unasked of none', async (t) => {
  const bench = new AttendedBench(t);
  const first = bench.attendant();
  const handle = await bench.attended(null, { freshnessMs: 600_000 });
  must(await first.open(handle));
  await bench.until(() => bench.states(handle) === 'active');
  first.letGo();
  const notices: object[] = [];
  const link = new ControlLink<AttendantProtocol>({
    name: 'attendant',
    controlSocket: bench.controlSocket,
    greeting: { fleet: 'bench' },
    unreachable: 'attendant-unreachable',
    lost: 'attendant-answer-lost',
    timers: systemTimers,
    state: () => undefined,
    notice: (notice) => notices.push(notice),
  });
  must(await link.connect());
  t.after(() => link.close());
  await link.call('metrics', {}, 1_000);
  // The program is well, and its next presence is not due: whatever came would have been told unasked.
  assert.deepEqual(notices, []);
  const { activation, identity } = handle;
  const directory = bench.driver.activationDirectory(activation);
  const { pid, startTime } = identity;
  const attended = await link.call('attend', { activation, directory, pid, startTime }, 1_000);
  assert.equal(attended.kind === 'value' && heardSchema.parse(attended.value).presence?.activation, activation);
});

test('other installed bytes replace a running attendant, and its presences go on', async (t) => {
  const bench = new AttendedBench(t);
  const before = bench.attendant('one');
  const handle = await bench.attended();
  must(await before.open(handle));
  await bench.until(() => bench.states(handle) === 'active');
  const old = value(await before.status());
  before.letGo();
  const after = bench.attendant('two');
  must(await after.open(handle));
  const { pid, build, outdated } = value(await after.status());
  assert.notEqual(pid, old.pid);
  assert.deepEqual([build, outdated], ['two', false]);
  const heard = bench.observed.length;
  await bench.until(() => bench.observed.length > heard);
  assert.equal(bench.observed.at(-1)?.state, 'active');
});

test('I1: an attended program neither echoes nor relinquishes; its gate opens once its epoch is kept', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const handle = await bench.attended(STATE);
  const grant = { activation: handle.activation, stateId: 'app', epoch: 9 };
  assert.equal(codeOf(await attendant.grant(handle.activation, grant)), 'channel-closed');
  must(await attendant.open(handle));
  await bench.until(() => bench.states(handle) === 'warming');
  assert.equal((await attendant.echo(handle.activation, 'nonce', 1)).kind, 'unknown');
  const request = { requestId: 'r', epoch: 8, termMs: 1 };
  assert.equal((await attendant.relinquish(handle.activation, request, 1)).kind, 'silent');
  assert.deepEqual(bench.opened, []);
  must(await attendant.grant(handle.activation, grant));
  assert.deepEqual(bench.opened, [{ activation: handle.activation, epoch: 9 }]);
  await bench.until(() => bench.states(handle) === 'warming active');
  assert.equal(value(attendant.presence(handle.activation)).presence.epoch, 9);
  assert.equal(codeOf(await attendant.grant(handle.activation, { ...grant, epoch: 8 })), 'attended-epoch-outdated');
});

test('what was closed or has died is spoken for no more', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const [closed, dies] = [await bench.attended(), await bench.attended()];
  must(await attendant.open(closed));
  must(await attendant.open(dies));
  await bench.until(() => bench.states(closed) === 'active' && bench.states(dies) === 'active');
  await attendant.close(closed.activation);
  assert.equal(attendant.presence(closed.activation).kind, 'unknown');
  assert.deepEqual(
    value(await attendant.attended()).map(({ activation }) => activation),
    [dies.activation],
  );
  await bench.driver.stop(dies, 0);
  assert.equal(codeOf(await attendant.open(dies)), 'ok', 'it was told before');
  const again = bench.attendant();
  while (value(await attendant.attended()).length > 0) await attendant.metrics();
  assert.equal(codeOf(await again.open(dies)), 'attended-process-gone');
});

test('the launch document says who goes by the attendant; everything else speaks for itself', async (t) => {
  const bench = new AttendedBench(t);
  const attendant = bench.attendant();
  const handle = await bench.attended();
  const embedded = await bench.start(bench.sleep());
  const asked: string[] = [];
  const note = (name: string) => (activation: string) => {
    asked.push(`${name} ${activation}`);
    return Promise.resolve();
  };
  const other = {
    ...attendant,
    open: async ({ activation }: { activation: string }) => (
      await note('open')(activation), { ok: true, value: 'open' }
    ),
    presence: () => ({ kind: 'unknown', because: 'embedded' }),
    withdraw: note('withdraw'),
    close: note('close'),
    subscribe: () => undefined,
  } as unknown as Parameters<typeof channelsOf>[0];
  const channels = channelsOf(other, attendant, (activation) => bench.driver.isAttended(activation));
  must(await channels.open(handle));
  must(await channels.open(embedded));
  assert.deepEqual(asked, [`open ${embedded.activation}`]);
  assert.equal(attendant.holds(handle.activation), true);
  assert.deepEqual(channels.presence(embedded.activation), { kind: 'unknown', because: 'embedded' });
  await bench.until(() => channels.presence(handle.activation).kind === 'seen');
  await channels.withdraw(handle.activation, 'r');
  assert.equal(asked.length, 1);
  assert.equal(await bench.driver.isAttended(embedded.activation), false);
});
