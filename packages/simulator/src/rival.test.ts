import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALONE, GATED, type Scenario, twoDeploys } from './scenario.ts';
import { dice } from './seed.ts';
import { Simulation } from './simulation.ts';
import type { TargetShape } from './world/sources.ts';

const ROWS: TargetShape = { stores: 1, routed: true };
const beside = (shape: TargetShape, rival: Partial<NonNullable<Scenario['rival']>>): Scenario => ({
  ...twoDeploys('good', shape),
  rival: { target: 'app', deploys: [{ atMs: 300, behaviour: 'good' }], ...rival },
});

for (const [what, shape, attended] of [
  ['of its own kind', ROWS, false],
  ['whose program knows nothing of Idunn', ROWS, true],
  ['whose program compares rows, while ours compares none', GATED, false],
  ['while nothing may overlap', ALONE, false],
] as const) {
  test(`I1: the claim beside a state refuses the deployment of another fleet, ${what}`, async () => {
    const simulation = new Simulation(beside(shape, { attended }));
    const { violations, results, world } = await simulation.run();
    assert.deepEqual(violations, []);
    assert.deepEqual(
      results.map((result) => result?.outcome),
      ['admitted', 'admitted'],
    );
    const [refused] = simulation.rivalResults;
    assert.deepEqual([refused?.outcome, refused?.refusal?.code], ['rejected', 'foreign-claim']);
    assert.deepEqual([...new Set(world.fleets.values())], ['simulated'], 'nothing of it was launched');
  });
}

test('I1: of two fleets that meet over a new state one owns it, wherever each keeps its row', async () => {
  const owners = new Set<string>();
  const late = new Set<string | undefined>();
  const roll = dice(2);
  for (let seed = 1; seed <= 60; seed++) {
    const scenario = beside(roll.pick([GATED, ROWS, { ...ROWS, stores: 2 }]), {
      attended: roll.hits(0.5),
      deploys: [{ atMs: roll.between(1, 60), behaviour: 'good' }],
      ...(roll.hits(0.4) ? { crashAt: roll.between(1, 60) } : {}),
    });
    const simulation = new Simulation({ ...scenario, seed, crashAt: roll.hits(0.3) ? roll.between(1, 60) : null });
    const { violations, results, world } = await simulation.run();
    assert.deepEqual([seed, violations], [seed, []]);
    const [claim] = world.ledger.of('claimed');
    owners.add(claim?.fleet ?? 'nobody');
    for (const result of [results[0], simulation.rivalResults[0]]) {
      if (result?.outcome === 'aborted') late.add(result.refusal?.code);
    }
  }
  assert.deepEqual([...owners].toSorted(), ['elsewhere', 'simulated']);
  assert.ok(late.has('foreign-claim'), 'some had launched their candidate already');
});

test('I6: a reboot in the middle of a deployment ends both authorities and what both run', async () => {
  for (let atMs = 10; atMs <= 120; atMs += 2) {
    const scenario = beside(ROWS, { deploys: [{ atMs: 15, behaviour: 'good' }] });
    const deploys = scenario.deploys.map((deploy) => ({ ...deploy, atMs: deploy.atMs + 300 }));
    const { violations } = await new Simulation({ ...scenario, deploys, reboots: [{ atMs }] }).run();
    assert.deepEqual([atMs, violations], [atMs, []]);
  }
});
