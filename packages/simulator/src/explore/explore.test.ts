import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHASES } from '@idunn/authority';
import { type Exploration, explore } from './graph.ts';
import { deployment, restart, SHAPES, type Small } from './kinds.ts';

/** Of the states that are met again, one in so many is gone on from once more: equal ones have to go on alike. */
const VERIFY_EVERY = 25;

async function whole(small: Small): Promise<Exploration> {
  const told = await explore(small, { verifyEvery: VERIFY_EVERY });
  assert.deepEqual(told.findings, []);
  assert.ok(told.whole, 'states were left');
  assert.ok(told.settled > 0, 'nothing ever settled');
  return told;
}

for (const shape of Object.keys(SHAPES) as (keyof typeof SHAPES)[]) {
  test(`I6: ${shape}: a deployment and a crash, until no state is left`, async (t) => {
    const { states, transitions, outcomes } = await whole(deployment(shape, { crash: 1 }));
    t.diagnostic(`${states} states, ${transitions} steps`);
    assert.deepEqual(outcomes, ['admitted']);
  });
}

test('I8: a deployment, a crash and a freeze, until no state is left', async (t) => {
  const { states, transitions } = await whole(deployment('stateless, routed', { crash: 1, freeze: 1 }));
  t.diagnostic(`${states} states, ${transitions} steps`);
});

test('I6: a deployment and a deadline that passes: every phase is reached, those of the way back too', async (t) => {
  const { states, transitions, phases, outcomes } = await whole(deployment('stateful, routed', { late: 1 }));
  t.diagnostic(`${states} states, ${transitions} steps`);
  for (const phase of [...PHASES, 'aborting', 'returning'])
    assert.ok(phases.includes(phase), `${phase} was not reached`);
  assert.ok(outcomes.includes('rolled-back: candidate-never-active'));
});

test('I1, I9: a candidate that dies, whenever it does, until no state is left', async (t) => {
  const { states, transitions } = await whole(deployment('stateless, routed', { death: 1 }, { mortal: 'candidate' }));
  t.diagnostic(`${states} states, ${transitions} steps`);
});

test('I6, I9: a death, its restart and a crash, until no state is left', async (t) => {
  const { states, transitions, outcomes } = await whole(restart('stateful, routed', { crash: 1, death: 1 }));
  t.diagnostic(`${states} states, ${transitions} steps`);
  assert.deepEqual(outcomes, ['restored']);
});

test('between two writes of the engine the world may go on: no state is left', async (t) => {
  const { states, transitions } = await whole(deployment('stateful, routed', {}, { fine: true }));
  t.diagnostic(`${states} states, ${transitions} steps`);
});
