import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, QUEUE_LIMIT, RECEIPT_LIMIT } from '@idunn/authority';
import { CALM } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { refOf } from './world/sources.ts';

const SHAPES = { app: { stores: 1, routed: true }, other: { stores: 0, routed: false } };

/** A fleet with an engine and nothing asked of it yet. */
function fleet(shapes: Simulation['shapes'] = SHAPES, more: { queueDepth?: number } = {}): Simulation {
  const simulation = new Simulation({ ...CALM, seed: 5, shapes, deploys: [], ...more });
  simulation.begin();
  return simulation;
}

const up = (operationId: string, ref: string, target = 'app'): Command => ({
  kind: 'up',
  target,
  ref,
  operationId,
  actor: 'ada',
  tenant: 'local',
});

/** Submits, lets virtual time pass until the transaction has a result, and answers both. */
async function deploy(simulation: Simulation, command: Command) {
  const taken = await simulation.ask((engine) => engine.submit(command));
  assert.ok(taken.ok, JSON.stringify(taken));
  const result = await simulation.resultOf(taken.value.transaction);
  return { receipt: taken.value, result };
}

test('I12: a repeated operation id answers the first receipt, another request under it is refused', async () => {
  const simulation = fleet();
  const { receipt } = await deploy(simulation, up('op-1', refOf('good', 1)));
  const again = await simulation.ask((engine) => engine.submit(up('op-1', refOf('good', 1))));
  assert.deepEqual(again, { ok: true, value: { ...receipt, repeated: true } });
  const other = await simulation.ask((engine) => engine.submit(up('op-1', refOf('good', 2))));
  assert.equal(other.ok ? null : other.refusal.code, 'operation-conflict');
});

test('I12: an id whose receipt was let go is refused as unknown and never run again; the newest are kept', async () => {
  const simulation = fleet({ other: { stores: 0, routed: false } });
  const id = (index: number): string => `op-${String(index).padStart(4, '0')}`;
  // A takeover where there is nothing to take over ends at once, and is a command like any other.
  const ask = (index: number): Command => ({
    ...up(id(index), refOf('good', 1), 'other'),
    kind: 'takeover',
    confirm: 'nobody',
  });
  for (let index = 0; index <= RECEIPT_LIMIT; index += 1) await deploy(simulation, ask(index));
  const submit = (index: number) => simulation.ask((engine) => engine.submit(ask(index)));
  const [gone, kept] = [await submit(0), await submit(1)];
  assert.equal(gone.ok ? null : gone.refusal.code, 'operation-unknown');
  assert.equal(kept.ok && kept.value.repeated, true);
});

test('I12: a receipt survives the death of the engine that gave it', async () => {
  const simulation = fleet();
  const { receipt } = await deploy(simulation, up('op-1', refOf('good', 1)));
  simulation.crash('for the test');
  await simulation.pass(100);
  const again = await simulation.ask((engine) => engine.submit(up('op-1', refOf('good', 1))));
  assert.deepEqual(again, { ok: true, value: { ...receipt, repeated: true } });
});

test('F24: commands queue up to the limit, are told what is ahead, and are refused beyond it', async () => {
  for (const depth of [QUEUE_LIMIT, 2]) {
    const simulation = fleet(SHAPES, { queueDepth: depth });
    const taken = await simulation.ask(async (engine) => {
      const all = [];
      for (let index = 0; index <= depth + 1; index += 1) {
        all.push(await engine.submit(up(`op-${index}`, refOf('good', index + 1))));
      }
      return all;
    });
    const ahead = taken.map((one) => (one.ok ? one.value.ahead.length : one.refusal.code));
    assert.deepEqual(ahead, [...Array.from({ length: depth + 1 }, (_, index) => index), 'queue-full']);
  }
});

test('F24: of two commands that race, both are taken, one behind the other', async () => {
  const simulation = fleet();
  const [first, second] = await simulation.ask((engine) =>
    Promise.all([engine.submit(up('a', refOf('good', 1))), engine.submit(up('b', refOf('good', 2)))]),
  );
  const lengths = [first, second].map((one) => (one.ok ? one.value.ahead.length : -1));
  assert.deepEqual(new Set(lengths), new Set([0, 1]));
});

test('a target without a binding is refused before anything durable', async () => {
  const simulation = fleet();
  const taken = await simulation.ask((engine) => engine.submit(up('op', refOf('good', 1), 'nobody')));
  assert.equal(taken.ok ? null : taken.refusal.code, 'target-not-bound');
  assert.equal(await simulation.ask((engine) => engine.target('nobody')), null);
});

test('up of what is admitted and alive is unchanged; what is dead and held is deployed anew', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op-1', refOf('good', 1)));
  const first = await simulation.ask((engine) => engine.target('app'));
  assert.equal((await deploy(simulation, up('op-2', refOf('good', 1)))).result.outcome, 'unchanged');
  simulation.world.stop('hold', 'app', { by: 'ops', reason: 'audit' });
  simulation.kill('app');
  await simulation.pass(20);
  const dead = await simulation.ask((engine) => engine.target('app'));
  assert.deepEqual(
    dead?.incidents.map(({ code }) => code),
    ['continuity-held'],
  );
  assert.deepEqual(dead?.admitted?.processes, []);
  // I4: what is gone is neither freshly present nor ready, whatever it said last.
  const [shown] = dead?.incarnations ?? [];
  assert.deepEqual([shown?.present?.fresh ?? false, shown?.ready], [false, null]);
  assert.equal((await deploy(simulation, up('op-3', refOf('good', 1)))).result.outcome, 'admitted');
  const second = await simulation.ask((engine) => engine.target('app'));
  assert.notEqual(second?.admitted?.activation, first?.admitted?.activation);
  assert.deepEqual(second?.incidents, []);
  assert.equal(second?.lease?.epoch, 2);
});

test('I8: a freeze holds before Expected is published, names who holds it, and its time is not ours', async () => {
  const simulation = fleet();
  simulation.world.frozen.set('app', { by: 'ops', reason: 'audit' });
  const taken = await simulation.ask((engine) => engine.submit(up('op', refOf('good', 1))));
  assert.ok(taken.ok);
  await simulation.pass(60_000);
  const held = await simulation.ask((engine) => engine.target('app'));
  assert.equal(held?.transaction?.phase, 'sealed');
  assert.equal(held?.transaction?.waitingOn?.what, 'the freeze of ops: audit (since 2026-01-01T00:00:00.000Z)');
  assert.equal(simulation.world.projections.size, 0);
  simulation.world.frozen.delete('app');
  const result = await simulation.resultOf(taken.value.transaction);
  assert.equal(result.outcome, 'admitted');
  assert.ok(result.durationMs > 60_000 && result.ownMs < 1_000, JSON.stringify(result));
  const view = await simulation.ask((engine) => engine.transaction(taken.value.transaction));
  assert.deepEqual([view?.actor, view?.tenant], ['ada', 'local']);
  // The digest of each record that was read, and when what was read admitted the deployment.
  assert.deepEqual(
    view?.freezes.map(({ phase, record, admittedAt }) => [phase, record !== null, admittedAt !== null]),
    [
      ['sealed', true, false],
      ['sealed', false, true],
      ['warming', false, true],
    ],
  );
});

test('I8, I10: a freeze that cannot be read holds as well', async () => {
  const simulation = fleet();
  simulation.world.frozen.set('app', 'unreadable');
  const taken = await simulation.ask((engine) => engine.submit(up('op', refOf('good', 1))));
  assert.ok(taken.ok);
  await simulation.pass(2_000);
  const held = await simulation.ask((engine) => engine.target('app'));
  assert.match(held?.transaction?.waitingOn?.what ?? '', /cannot be read: permission denied/);
});

test('I1, I10: a row that names a stranger is held with an incident, which closes with its cause', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op-1', refOf('good', 1)));
  const rows = simulation.world.stateOf('app').rows;
  const [store, row] = [...rows][0] ?? [];
  assert.ok(store !== undefined && row !== undefined);
  rows.set(store, { ...row, activation: 'act-stranger' });
  const taken = await simulation.ask((engine) => engine.submit(up('op-2', refOf('good', 2))));
  assert.ok(taken.ok);
  await simulation.pass(600);
  const held = await simulation.ask((engine) => engine.target('app'));
  assert.equal(held?.transaction?.phase, 'warming');
  assert.deepEqual(
    held?.incidents.map(({ code }) => code),
    ['lease-row-unexpected'],
  );
  assert.match(held?.incidents[0]?.detail ?? '', /act-stranger/);
  rows.set(store, row);
  assert.equal((await simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
  assert.deepEqual((await simulation.ask((engine) => engine.target('app')))?.incidents, []);
});

test('a foreign claim is refused by name, and taken over by typed confirmation only', async () => {
  const simulation = fleet();
  simulation.world.stateOf('app').claim = {
    schema: 'idunn.owner-claim/v1',
    fleet: 'elsewhere',
    target: 'theirs',
    stateId: 'app-state',
    highestEpoch: 41,
  };
  const refused = await deploy(simulation, up('op-1', refOf('good', 1)));
  assert.equal(refused.result.outcome, 'rejected');
  assert.equal(refused.result.refusal?.code, 'foreign-claim');
  const takeover = (operationId: string, confirm: string): Command => ({
    kind: 'takeover',
    target: 'app',
    confirm,
    operationId,
    actor: 'ada',
    tenant: 'local',
  });
  const wrong = await deploy(simulation, takeover('op-2', 'elsewhere/app'));
  assert.equal(wrong.result.refusal?.code, 'takeover-not-confirmed');
  assert.equal((await deploy(simulation, takeover('op-3', 'elsewhere/theirs'))).result.outcome, 'done');
  assert.equal((await deploy(simulation, up('op-4', refOf('good', 1)))).result.outcome, 'admitted');
  assert.equal(simulation.world.named('app')?.epoch, 42);
  assert.equal(simulation.world.stateOf('app').claim?.fleet, 'simulated');
  assert.equal(
    (await deploy(simulation, takeover('op-5', 'elsewhere/theirs'))).result.refusal?.code,
    'nothing-to-take-over',
  );
});

test('F22: a later command replaces a deployment that can neither finish nor return', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op-1', refOf('good', 1)));
  const stuck = await deploy(simulation, up('op-2', `${refOf('says-failed', 2)}!`));
  assert.equal(stuck.result.outcome, 'operator-required');
  assert.match(stuck.result.refusal?.remedy ?? '', /does not accept state schema events-v2/);
  const shown = await simulation.ask((engine) => engine.target('app'));
  assert.deepEqual(
    shown?.incidents.map(({ code }) => code),
    ['operator-required'],
  );
  const mended = await deploy(simulation, up('op-3', `${refOf('good', 3)}!`));
  assert.equal(mended.result.outcome, 'admitted');
  const after = await simulation.ask((engine) => engine.target('app'));
  assert.deepEqual(after?.incidents, []);
});

test('targets are independent: a build that takes its time delays no other target', async () => {
  const simulation = fleet();
  simulation.world.slowBuilds.add('app');
  await simulation.ask((engine) => engine.submit(up('slow', refOf('good', 1))));
  const { result } = await deploy(simulation, up('quick', refOf('good', 1), 'other'));
  assert.equal(result.outcome, 'admitted');
  const slow = await simulation.ask((engine) => engine.target('app'));
  assert.equal(slow?.transaction?.phase, 'sealed');
});

test('dependents are built, and begin nothing that changes the graph before the observer is admitted', async () => {
  const simulation = new Simulation({ ...CALM, seed: 5, observerTarget: 'other', shapes: SHAPES, deploys: [] });
  simulation.begin();
  const taken = await simulation.ask((engine) => engine.submit(up('op', refOf('good', 1))));
  assert.ok(taken.ok);
  await simulation.pass(30_000);
  const waiting = await simulation.ask((engine) => engine.target('app'));
  assert.equal(waiting?.transaction?.phase, 'sealed');
  assert.equal(waiting?.transaction?.waitingOn?.what, 'the observer: it is not admitted yet');
  assert.equal(simulation.world.projections.size, 0);
  await deploy(simulation, up('first', refOf('good', 1), 'other'));
  assert.equal((await simulation.resultOf(taken.value.transaction)).outcome, 'admitted');
});

test('F14: the route follows the incarnation: what was relaunched inside a handover is what it names', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op-1', refOf('good', 1)));
  assert.equal((await deploy(simulation, up('op-2', refOf('exits-once-after-grant', 2)))).result.outcome, 'admitted');
  const now = await simulation.ask((engine) => engine.target('app'));
  const process = simulation.world.processes.get(now?.admitted?.activation ?? '');
  assert.equal(process?.alive, true);
  const { endpoint } = process?.activation ?? {};
  assert.deepEqual(
    now?.route?.members.map(({ backend }) => backend),
    [`${endpoint?.host}:${endpoint?.port}`],
  );
});

test('I7, F16: a candidate that fails leaves no trace on the incumbent, which never stops serving', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op-1', refOf('good', 1)));
  const before = await simulation.ask((engine) => engine.target('app'));
  for (const [index, behaviour] of (
    ['exits-at-start', 'never-warms', 'other-binary', 'claims-early'] as const
  ).entries()) {
    assert.equal((await deploy(simulation, up(`bad-${index}`, refOf(behaviour, 2)))).result.outcome, 'aborted');
    await simulation.pass(200);
    const after = await simulation.ask((engine) => engine.target('app'));
    assert.deepEqual([after?.admitted, after?.lease, after?.route], [before?.admitted, before?.lease, before?.route]);
    assert.equal(after?.incarnations.length, 1);
    assert.equal([...simulation.world.projections.keys()].length, 1);
    assert.equal([...simulation.world.processes.values()].filter(({ alive }) => alive).length, 1);
  }
});

test('F2: no phase ends without having been named, and every wait has a remedy', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op', refOf('good', 1)));
  const begun = simulation.told.flatMap((event) =>
    event.event === 'phase' && event.tookMs === null ? [event.phase] : [],
  );
  assert.deepEqual(begun, [
    'planned',
    'materialized',
    'sealed',
    'expected-published',
    'activation-issued',
    'candidate-started',
    'activation-observed',
    'warming',
    'incumbent-fenced',
    'write-lease-granted',
    'ready-observed',
    'route-published',
    'route-observed',
    'fence-cleared',
    'draining',
    'complete',
  ]);
  for (const event of simulation.told) if (event.event === 'wait' && event.wait !== null) assert.ok(event.wait.remedy);
  assert.equal(simulation.told.filter(({ event }) => event === 'outcome').length, 1);
});

test('a target without state or route records those phases as not applicable', async () => {
  const simulation = fleet();
  const { receipt } = await deploy(simulation, up('op', refOf('good', 1), 'other'));
  const view = await simulation.ask((engine) => engine.transaction(receipt.transaction));
  const notes = Object.fromEntries(view?.phases.map(({ phase, note }) => [phase, note]) ?? []);
  for (const phase of ['incumbent-fenced', 'write-lease-granted', 'route-published', 'route-observed']) {
    assert.equal(notes[phase], 'not-applicable', phase);
  }
  assert.equal(notes['ready-observed'], null);
});

test('F10: the next deployment goes on while the last one still drains', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op-1', refOf('good', 1)));
  const [old] = [...simulation.world.processes.values()];
  if (old !== undefined) old.open = 1;
  const second = await deploy(simulation, up('op-2', refOf('good', 2)));
  const third = await deploy(simulation, up('op-3', refOf('good', 3)));
  assert.equal(third.result.outcome, 'admitted');
  const view = await simulation.ask((engine) => engine.transaction(second.receipt.transaction));
  assert.equal(view?.phase, 'draining');
});

test('F4: collecting never names a release that is admitted or kept for a way back', async () => {
  const simulation = fleet();
  for (const index of [1, 2, 3]) await deploy(simulation, up(`op-${index}`, refOf('good', index)));
  await simulation.pass(1_000);
  const admitted = await simulation.ask((engine) => engine.target('app'));
  const last = simulation.world.collected.at(-1) ?? [];
  assert.ok(last.includes(admitted?.admitted?.release ?? ''));
  assert.equal(last.length, 3);
});

test('I1, I10: a row that names what nobody could have issued is held, and is no fault of ours', async () => {
  const simulation = fleet();
  await deploy(simulation, up('op-1', refOf('good', 1)));
  const { rows } = simulation.world.stateOf('app');
  for (const [store, row] of rows) rows.set(store, { ...row, epoch: 9, activation: 'my own words' });
  await simulation.ask((engine) => engine.submit(up('op-2', refOf('good', 2))));
  await simulation.pass(1_400);
  const codes = await simulation.ask(async (engine) => engine.incidents().map(({ code }) => code));
  assert.deepEqual(codes, ['lease-row-unexpected']);
});
