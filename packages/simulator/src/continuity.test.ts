import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { CALM, diesOnce, type Scenario } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { sweep } from './sweep.ts';
import { say } from './world/say.ts';
import { refOf, type TargetShape } from './world/sources.ts';

const ROUTED: TargetShape = { stores: 1, routed: true };

/** A fleet of one target that has admitted a build, and the ways to look at it. */
async function admitted(behaviour: Parameters<typeof refOf>[0] = 'good', shape = ROUTED) {
  const simulation = new Simulation({ ...CALM, seed: 5, shapes: { app: shape }, deploys: [] });
  simulation.begin();
  const up = (operationId: string, ref: string) =>
    simulation.ask((engine) =>
      engine.submit({ kind: 'up', target: 'app', ref, operationId, actor: 'ada', tenant: 'local' }),
    );
  const taken = await up('op-1', refOf(behaviour, 1));
  assert.ok(taken.ok);
  assert.equal((await simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
  await simulation.pass(300);
  const view = async () => {
    const seen = await simulation.ask((engine) => engine.target('app'));
    assert.ok(seen);
    return seen;
  };
  const started = () => simulation.world.ledger.of('started').map(({ atMs }) => atMs);
  return { simulation, up, view, started };
}

test('I9: a killed process is replaced at once, under a new activation, epoch and port', async () => {
  const { simulation, view, started } = await admitted();
  const before = await view();
  simulation.kill('app');
  const killedMs = simulation.time.nowMs;
  await simulation.pass(200);
  const after = await view();
  assert.ok((started().at(-1) ?? 0) - killedMs < 50, 'F25: nothing is waited for before the first restart');
  assert.notEqual(after.admitted?.activation, before.admitted?.activation);
  assert.equal(after.admitted?.incarnation, before.admitted?.incarnation);
  assert.equal(after.admitted?.admittedAt, before.admitted?.admittedAt);
  assert.deepEqual([before.lease?.epoch, after.lease?.epoch], [1, 2]);
  assert.equal(after.lease?.activation, after.admitted?.activation);
  // F14: the route follows the incarnation to its new port.
  assert.notEqual(after.route?.members[0]?.backend, before.route?.members[0]?.backend);
  assert.equal(simulation.world.route('app')?.members[0]?.activation, after.admitted?.activation);
  assert.deepEqual([after.incidents, after.transaction], [[], null]);
});

test('F25: a death that is told while its process is looked at is not lost', async () => {
  const { simulation, started } = await admitted();
  simulation.world.endingMs = 4;
  simulation.kill('app');
  const killedMs = simulation.time.nowMs;
  await simulation.pass(5_000);
  assert.equal(started().length, 2);
  assert.ok((started().at(-1) ?? 0) - killedMs < 50, `after ${(started().at(-1) ?? 0) - killedMs} ms`);
});

test('I5: the lease of a dead process is never reused; the replacement writes only after its own warming', async () => {
  const { simulation } = await admitted();
  simulation.kill('app');
  await simulation.pass(500);
  const granted = simulation.world.ledger.of('granted');
  assert.deepEqual(
    granted.map(({ epoch }) => epoch),
    [1, 2],
  );
  const [dead, next] = granted.map(({ activation }) => activation);
  assert.notEqual(dead, next);
  const { entries } = simulation.world.ledger;
  const inOrder = [
    entries.findLastIndex((entry) => entry.kind === 'write' && entry.activation === dead),
    entries.findLastIndex((entry) => entry.kind === 'told-phase' && entry.phase === 'warming'),
    entries.findIndex((entry) => entry.kind === 'row' && entry.activation === next),
    entries.findIndex((entry) => entry.kind === 'write' && entry.activation === next),
  ];
  assert.deepEqual(
    inOrder,
    inOrder.toSorted((a, b) => a - b),
  );
  assert.ok(!inOrder.includes(-1));
});

test('I9, F29: the wait doubles from 5 s to 300 s, six attempts in an hour page, none is the last', async () => {
  const { simulation, view, started } = await admitted('lies-when-relaunched');
  simulation.kill('app');
  simulation.time.stepWall(-3_600_000);
  await simulation.pass(1_400_000);
  const waits = started()
    .slice(2)
    .map((atMs, index) => Math.round((atMs - (started()[index + 1] ?? 0)) / 1_000));
  assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  const codes = (await view()).incidents.map(({ code }) => code);
  assert.deepEqual(codes.toSorted(), ['admitted-process-lost', 'restarted-too-often']);
  assert.ok((await view()).continuity.nextAttemptAt);
});

test('I9: a run of ten minutes forgives what was charged before it', async () => {
  const { simulation, view, started } = await admitted();
  for (const runMs of [1_000, 8_000, 650_000]) {
    simulation.kill('app');
    await simulation.pass(runMs);
  }
  assert.equal((await view()).continuity.streak, 3);
  simulation.kill('app');
  const killedMs = simulation.time.nowMs;
  await simulation.pass(400);
  assert.ok((started().at(-1) ?? 0) - killedMs < 50);
  assert.equal((await view()).continuity.streak, 1);
});

test('I6: lost to a reboot it is brought back at once and without charge, once for each admission', async () => {
  const { simulation, view, started } = await admitted();
  simulation.reboot();
  await simulation.pass(400);
  assert.equal((await view()).admitted?.processes.length, 1);
  assert.equal((await view()).continuity.streak, 0);
  simulation.reboot();
  await simulation.pass(400);
  assert.equal((await view()).continuity.streak, 1);
  assert.equal(started().length, 3);
});

test('I8: a hold suspends restarts and names who, why and how it ends; cleared, the restart follows', async () => {
  const { simulation, view, started } = await admitted();
  simulation.world.stop('hold', 'app', { by: 'ops', reason: 'forensics' });
  simulation.kill('app');
  await simulation.pass(700_000);
  assert.equal(started().length, 1);
  const held = await view();
  assert.deepEqual(
    held.incidents.map(({ code }) => code),
    ['continuity-held'],
  );
  assert.match(held.incidents[0]?.detail ?? '', /the hold of ops: forensics/);
  assert.equal(held.hold?.by, 'ops');
  simulation.world.stop('hold', 'app', null);
  await simulation.pass(1_000);
  assert.equal(started().length, 2);
  assert.deepEqual((await view()).incidents, []);
});

test('I8, I10: a hold that cannot be read suspends restarts as well', async () => {
  const { simulation, started } = await admitted();
  simulation.world.stop('hold', 'app', 'unreadable');
  simulation.kill('app');
  await simulation.pass(60_000);
  assert.equal(started().length, 1);
});

test('I8: a hold overrides no freeze: what is frozen waits until the freeze is cleared', async () => {
  const { simulation, up, view } = await admitted();
  for (const stop of ['freeze', 'hold'] as const) simulation.world.stop(stop, 'app', { by: 'ops', reason: 'audit' });
  const taken = await up('op-2', refOf('good', 2));
  assert.ok(taken.ok);
  await simulation.pass(30_000);
  const waiting = (await view()).transaction;
  assert.deepEqual([waiting?.phase, waiting?.waitingOn?.remedy], ['sealed', 'idunn freeze clear app']);
  simulation.world.stop('freeze', 'app', null);
  assert.equal((await simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
});

test('I8: a freeze gates no restart, and a hold blocks no deployment', async () => {
  const { simulation, up, view } = await admitted();
  simulation.world.stop('freeze', 'app', { by: 'ops', reason: 'audit' });
  simulation.kill('app');
  await simulation.pass(400);
  assert.equal((await view()).admitted?.processes.length, 1);
  simulation.world.stop('freeze', 'app', null);
  simulation.world.stop('hold', 'app', { by: 'ops', reason: 'audit' });
  const taken = await up('op-2', refOf('good', 2));
  assert.ok(taken.ok);
  assert.equal((await simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
});

test('F22: a deployment replaces an incumbent that dies again and again', async () => {
  const { simulation, up, view } = await admitted('lies-when-relaunched');
  simulation.kill('app');
  await simulation.pass(30_000);
  const taken = await up('op-2', refOf('good', 2));
  assert.ok(taken.ok);
  const result = await simulation.resultOf(taken.value.transaction);
  assert.equal(result.outcome, 'admitted');
  assert.ok(result.durationMs < 5_000, `${result.durationMs} ms`);
  await simulation.pass(1_000);
  assert.deepEqual((await view()).incidents, []);
});

test('I9: another release that is admitted owes nothing for the restarts of the one before it', async () => {
  const { simulation, up, view, started } = await admitted('lies-when-relaunched');
  simulation.kill('app');
  await simulation.pass(400_000);
  assert.ok((await view()).continuity.streak > 5);
  assert.ok((await view()).incidents.some(({ code }) => code === 'restarted-too-often'));
  const taken = await up('op-2', refOf('good', 2));
  assert.ok(taken.ok);
  assert.equal((await simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
  await simulation.pass(1_000);
  const after = await view();
  assert.deepEqual([after.continuity.streak, after.incidents], [0, []]);
  const before = started().length;
  simulation.kill('app');
  await simulation.pass(400);
  assert.equal(started().length, before + 1, 'at once, not after the wait of the other');
  assert.equal((await view()).continuity.streak, 1);
  const restart = await simulation.ask((engine) =>
    engine.submit({ kind: 'restart', target: 'app', operationId: 'op-3', actor: 'ada', tenant: 'local' }),
  );
  assert.ok(restart.ok);
  assert.equal((await simulation.resultOf(restart.value.transaction)).outcome, 'admitted');
  assert.equal((await view()).continuity.streak, 1, 'the same release restarted is no admission of its own');
});

test('F22: a restart that cannot prove its route gives way to a deployment', async () => {
  const { simulation, up, view } = await admitted();
  // Its next launch holds the lease and is never seen to be active.
  simulation.world.mute = 'never-active';
  simulation.kill('app');
  await simulation.pass(20_000);
  const hanging = await view();
  assert.equal(hanging.transaction?.kind, 'continuity');
  assert.deepEqual(
    hanging.incidents.map(({ code }) => code),
    ['restart-overdue'],
  );
  simulation.world.mute = null;
  const taken = await up('op-2', refOf('good', 2));
  assert.ok(taken.ok);
  assert.equal((await simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
  await simulation.pass(2_000);
  assert.equal([...simulation.world.processes.values()].filter(({ alive }) => alive).length, 1);
});

test('I9: a restart never stops its live candidate; expire ends it, and the next launch follows', async () => {
  const { simulation, view, started } = await admitted();
  simulation.world.mute = 'never-active';
  simulation.kill('app');
  await simulation.pass(900_000);
  assert.equal(started().length, 2, 'however long it takes');
  const id = (await view()).transaction?.id ?? '';
  simulation.world.mute = null;
  const about = { transaction: id, actor: 'ada', tenant: 'local' };
  const cancelled = await simulation.ask((engine) => engine.submit({ ...about, kind: 'cancel', operationId: 'c' }));
  assert.equal(cancelled.ok ? null : cancelled.refusal.code, 'too-late-to-cancel');
  const expired = await simulation.ask((engine) => engine.submit({ ...about, kind: 'expire', operationId: 'e' }));
  assert.ok(expired.ok);
  assert.equal((await simulation.resultOf(id)).outcome, 'expired');
  await simulation.pass(10_000);
  assert.equal((await view()).admitted?.processes.length, 1);
  assert.deepEqual((await view()).incidents, []);
});

test('a presence that says failed is a death: its process is ended, seen gone, and replaced', async () => {
  const { simulation, view } = await admitted();
  const first = [...simulation.world.processes.values()].at(-1);
  assert.ok(first);
  say(simulation.world, first, 'failed');
  await simulation.pass(500);
  assert.equal(first.alive, false);
  const after = await view();
  assert.notEqual(after.admitted?.activation, first.id);
  assert.equal(after.admitted?.processes.length, 1);
});

test('a degraded presence is no death', async () => {
  const { simulation, started } = await admitted();
  const first = [...simulation.world.processes.values()].at(-1);
  assert.ok(first);
  say(simulation.world, first, 'degraded');
  await simulation.pass(60_000);
  assert.deepEqual([first.alive, started().length], [true, 1]);
});

test('without the observer a restart goes on, and what it published is told later', async () => {
  const { simulation, view } = await admitted();
  simulation.observer(false);
  await simulation.pass(100);
  simulation.kill('app');
  await simulation.pass(500);
  const alone = await view();
  assert.equal(alone.admitted?.processes.length, 1);
  assert.equal(simulation.world.route('app')?.members[0]?.activation, alone.admitted?.activation);
  simulation.observer(true);
  await simulation.pass(2_000);
  const [projection] = [...simulation.world.projections.values()];
  assert.equal(projection?.activation?.activation, alone.admitted?.activation);
});

test('an operator restarts what lives by a handover to the same release; of nothing it is refused', async () => {
  const simulation = new Simulation({ ...CALM, seed: 5, shapes: { app: ROUTED }, deploys: [] });
  simulation.begin();
  const restart = (operationId: string) =>
    simulation.ask((engine) =>
      engine.submit({ kind: 'restart', target: 'app', operationId, actor: 'ada', tenant: 'local' }),
    );
  const refused = await restart('r-0');
  assert.equal(refused.ok ? null : refused.refusal.code, 'nothing-to-restart');
  assert.equal((await simulation.ask((engine) => engine.target('app')))?.queued.length, 0, 'F21');
  const whole = await admitted();
  const before = await whole.view();
  const taken = await whole.simulation.ask((engine) =>
    engine.submit({ kind: 'restart', target: 'app', operationId: 'r-1', actor: 'ada', tenant: 'local' }),
  );
  assert.ok(taken.ok);
  assert.equal((await whole.simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
  await whole.simulation.pass(1_000);
  const after = await whole.view();
  assert.equal(after.admitted?.incarnation, before.admitted?.incarnation);
  assert.notEqual(after.admitted?.activation, before.admitted?.activation);
  assert.equal([...whole.simulation.world.processes.values()].filter(({ alive }) => alive).length, 1);
});

const killed: Scenario = {
  ...CALM,
  seed: 1,
  shapes: { app: ROUTED },
  deploys: [{ target: 'app', atMs: 10, behaviour: 'good', revision: 1 }],
  kills: [{ target: 'app', atMs: 500 }],
};

const told = ({ failing }: Awaited<ReturnType<typeof sweep>>) =>
  failing.map(({ crashAt, report }) => ({ crashAt, violations: report.violations, crashes: report.crashes }));

test('I6, I9: a restart goes on from a death of the engine at every write and around every effect', async () => {
  const swept = await sweep(killed);
  assert.deepEqual(told(swept), []);
  assert.ok(swept.runs > 90, `${swept.runs} crash points`);
});

test('I6, I9: so does a restart without state or route, and one of three stores', async () => {
  assert.deepEqual(told(await sweep({ ...killed, shapes: { app: { stores: 0, routed: false } } })), []);
  assert.deepEqual(told(await sweep({ ...killed, shapes: { app: { stores: 3, routed: true } } })), []);
});

test('I6: a reboot in the middle of a deployment leaves one process, and the transaction ends', async () => {
  for (let atMs = 205; atMs < 330; atMs += 5) {
    const { violations, results } = await run({
      ...killed,
      kills: [],
      deploys: [...killed.deploys, { target: 'app', atMs: 200, behaviour: 'good', revision: 2 }],
      reboots: [{ atMs }],
    });
    assert.deepEqual(violations, [], `a reboot at ${atMs} ms`);
    assert.equal(results[1]?.outcome, 'admitted');
  }
});

test('an incident opens once it has lasted, survives the engine, closes by itself; each change is told', async () => {
  const { simulation } = await admitted('lies-when-relaunched');
  simulation.kill('app');
  await simulation.pass(4_000);
  const open = await simulation.ask(async (engine) => engine.incidents());
  assert.deepEqual(
    open.map(({ code, subject, told }) => [code, subject, told]),
    [['admitted-process-lost', 'app', false]],
  );
  await simulation.ask(async (engine) => engine.noteTold(open[0]?.id ?? '', 'opened'));
  await simulation.pass(10);
  simulation.crash('for the test');
  await simulation.pass(1_000);
  const again = await simulation.ask(async (engine) => engine.incidents());
  assert.deepEqual(
    again.map(({ id, told }) => [id, told]),
    [[open[0]?.id, true]],
    'one incident, told once',
  );
  const taken = await simulation.ask((engine) =>
    engine.submit({
      kind: 'up',
      target: 'app',
      ref: refOf('good', 2),
      operationId: 'o',
      actor: 'ada',
      tenant: 'local',
    }),
  );
  assert.ok(taken.ok);
  await simulation.resultOf(taken.value.transaction);
  await simulation.pass(10_000);
  assert.deepEqual(await simulation.ask(async (engine) => engine.incidents()), []);
  const told = simulation.told.flatMap((event) => (event.event === 'incident' ? [`${event.state} ${event.code}`] : []));
  assert.deepEqual(told, ['opened admitted-process-lost', 'closed admitted-process-lost']);
});

test('I9: what a daemon had opened and not told when it died, the next one tells', async () => {
  const once = diesOnce('lies-when-relaunched', ROUTED);
  const { failing, runs } = await sweep({ ...once, kills: [...once.kills, { target: 'app', atMs: 40_000 }] });
  const told = failing.map(({ crashAt, report }) => ({ crashAt, violations: report.violations }));
  assert.deepEqual(told, []);
  assert.ok(runs > 200, `${runs} crash points`);
});
