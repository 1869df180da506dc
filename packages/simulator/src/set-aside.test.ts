import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransactionResult } from '@idunn/authority';
import { ALONE, diesOnce, GATED, twoDeploys } from './scenario.ts';
import { Simulation } from './simulation.ts';

/** The longest that a restart may be waited for, with the start of a program on top. */
const LONGEST_WAIT_MS = 310_000;

async function takeover(simulation: Simulation, operationId: string, confirm: string): Promise<TransactionResult> {
  const taken = await simulation.ask((engine) =>
    engine.submit({ kind: 'takeover', target: 'app', confirm, operationId, actor: 'ada', tenant: 'local' }),
  );
  assert.ok(taken.ok);
  return simulation.resultOf(taken.value.transaction);
}

for (const [what, shape] of [
  ['behind a gate', GATED],
  ['that compares rows', { stores: 1, routed: true }],
  ['that cannot overlap', ALONE],
  ['that cannot overlap and keeps no state', { ...ALONE, stores: 0 }],
] as const) {
  test(`I1, I9: a program ${what} that no record knows is set aside by its name, and what waited goes on`, async () => {
    const simulation = new Simulation({ ...twoDeploys('good', shape), restored: { takenAtMs: 150, atMs: 700 } });
    const { world } = await simulation.run();
    const serving = [...world.processes.values()].find(({ alive, state }) => alive && state === 'active');
    assert.ok(serving !== undefined);
    const holder = serving.id;

    const moves = world.ledger.of('row').length;
    const wrong = await takeover(simulation, 'op-wrong', 'act-other');
    assert.deepEqual([wrong.outcome, wrong.refusal?.code], ['rejected', 'takeover-not-confirmed']);
    assert.match(wrong.refusal?.remedy ?? '', new RegExp(`idunn takeover app --confirm ${holder} `));
    assert.deepEqual([serving.alive, world.ledger.of('row').length], [true, moves], 'F21: nothing has changed');

    assert.equal((await takeover(simulation, 'op-right', holder)).outcome, 'done');
    assert.equal(serving.treeLives, false);
    await simulation.pass(LONGEST_WAIT_MS);
    const back = world.processes.get(world.route('app')?.members[0]?.activation ?? '');
    assert.ok(back !== undefined && back.id !== holder && back.state === 'active', 'what the records admitted serves');
    if (shape.stores > 0) assert.equal(world.named('app')?.activation, back.id);
    assert.deepEqual(simulation.engine?.incidents(), []);
    assert.equal((await takeover(simulation, 'op-again', holder)).refusal?.code, 'nothing-to-take-over');
  });
}

test('I1, I9: a spare that newer records launched is set aside as well, and is launched no second time', async () => {
  const once = diesOnce('good', { stores: 1, routed: true });
  const simulation = new Simulation({ ...once, restored: { takenAtMs: 600, atMs: 2_000 } });
  const { world } = await simulation.run();
  const holder = world.named('app')?.activation ?? '';
  assert.match(JSON.stringify(simulation.engine?.incidents()), /which was only kept for the next restart/);
  assert.equal((await takeover(simulation, 'op-spare', holder)).outcome, 'done');
  await simulation.pass(LONGEST_WAIT_MS);
  const back = world.processes.get(world.named('app')?.activation ?? '');
  assert.ok(back !== undefined && back.id !== holder && back.state === 'active');
  assert.equal(world.ledger.of('started').filter(({ activation }) => activation === holder).length, 1);
  assert.deepEqual(simulation.engine?.incidents(), []);
});
