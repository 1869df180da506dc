import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALM, type Scenario } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { mute } from './teeth/continuity.ts';

/** How often an engine dies: sooner than a launch may be without its first word. */
const DIES_EVERY_MS = 1_000;
const DEATHS = 15;

/** Lets a world go on in which one engine after the other dies, and tells what came of it. */
async function dying(scenario: Scenario) {
  const simulation = new Simulation(scenario);
  for (let death = 1; death <= DEATHS; death += 1) {
    simulation.time.after(death * DIES_EVERY_MS, () => simulation.crash('of age'));
  }
  const { results, violations, world } = await simulation.run();
  const hung = [...world.processes.values()].filter(({ behaviour, relaunched, listening, state }) => {
    return behaviour === 'hangs-when-relaunched' && relaunched && listening && state === null;
  });
  return { outcomes: results.map((result) => result?.outcome), violations, hung, world };
}

/** Nobody can go back to a build that does not accept what the candidate may have written. */
const barred = mute({ newSchema: true });

test('I9, F2: past its fence, with the way back barred, one launch after the other that hangs is ended', async () => {
  const { outcomes, violations, hung } = await dying(barred);
  assert.deepEqual(outcomes, ['admitted', 'operator-required']);
  assert.deepEqual(violations, []);
  assert.ok(hung.length > 4, `${hung.length} launches hung`);
  assert.ok(hung.filter(({ treeLives }) => treeLives).length <= 1);
});

test('I7, F2: past its fence a launch that hangs is given up, and the incumbent has its lease back', async () => {
  const { outcomes, violations, hung } = await dying(mute({ newSchema: false }));
  assert.deepEqual(outcomes, ['admitted', 'rolled-back']);
  assert.deepEqual(violations, []);
  assert.equal(hung.length, 1);
});

test('I9, F2: on the way back one launch after the other of the incumbent that hangs is ended', async () => {
  const { outcomes, hung, world } = await dying({
    ...CALM,
    seed: 1,
    shapes: { app: { stores: 1, routed: true } },
    deploys: [
      { target: 'app', atMs: 10, behaviour: 'hangs-when-relaunched', revision: 1 },
      { target: 'app', atMs: 200, behaviour: 'says-failed', revision: 2 },
    ],
    strikes: [{ kind: 'deploy', phase: 'returning', fault: 'candidate-killed' }],
  });
  assert.deepEqual(outcomes, ['admitted', 'operator-required']);
  assert.ok(hung.length > 4, `${hung.length} launches hung`);
  assert.ok([...world.processes.values()].filter(({ treeLives }) => treeLives).length <= 1);
});
