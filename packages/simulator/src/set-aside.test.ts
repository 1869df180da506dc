import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransactionResult } from '@idunn/authority';
import { oneWriter } from './checkers/one-writer.ts';
import { ALONE, diesOnce, GATED, twoDeploys } from './scenario.ts';
import { dice } from './seed.ts';
import { Simulation } from './simulation.ts';

const ROWS = { stores: 1, routed: true };
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
  ['that compares rows', ROWS],
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
  const once = diesOnce('good', ROWS);
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

/** Incidents that a takeover ends, and how they name whom it sets aside. */
const HELD: ReadonlySet<string> = new Set(['lease-row-unexpected', 'unrecorded-process']);
const WHO = /(?:names|waits on) (?<who>act-\d+)/;

const inTheWay = (simulation: Simulation): string | undefined =>
  (simulation.engine?.incidents() ?? [])
    .filter(({ code }) => HELD.has(code))
    .map(({ detail }) => WHO.exec(detail)?.groups?.['who'])
    .find((who) => who !== undefined);

test('I1, I9: whenever records are put back, whoever holds the target up is set aside, and it is served', async () => {
  let held = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const roll = dice(seed);
    const several = { ...ROWS, stores: 2 };
    const shape = roll.pick([GATED, ROWS, ALONE, { ...ALONE, stores: 0 }, several, { ...several, mixed: true }]);
    const calm = twoDeploys(roll.pick(['good', 'good', 'exits-once-after-grant', 'forks-a-writer']), shape);
    const takenAtMs = roll.between(100, 1_200);
    const simulation = new Simulation({
      ...calm,
      seed,
      deploys: calm.deploys.map((one, at) => (at === 0 ? one : { ...one, atMs: roll.between(200, 1_500) })),
      kills: Array.from({ length: roll.between(0, 2) }, () => ({ target: 'app', atMs: roll.between(150, 6_000) })),
      restored: { takenAtMs, atMs: takenAtMs + roll.between(5, 2_000) },
    });
    const { world } = await simulation.run();
    const holder = inTheWay(simulation);
    if (holder === undefined) continue;
    held += 1;
    await takeover(simulation, 'op-takeover', holder);
    await simulation.pass(LONGEST_WAIT_MS);
    const served = world.processes.get(world.route('app')?.members[0]?.activation ?? '');
    assert.deepEqual([seed, served?.alive, served?.state], [seed, true, 'active']);
    assert.deepEqual([seed, simulation.engine?.incidents()], [seed, []]);
    assert.deepEqual([seed, oneWriter(world)], [seed, []]);
  }
  assert.ok(held > 5, `${held} runs were held`);
});
