import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { CALM, type Scenario } from './scenario.ts';

/** Its schema bars the way back, it ends whenever it is granted, and the next command waits behind it. */
const stuckBeforeAnother = (behaviour: 'exits-at-start' | 'good'): Scenario => ({
  ...CALM,
  seed: 3,
  shapes: { app: { stores: 1, routed: true } },
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
    { target: 'app', atMs: 300, behaviour: 'exits-after-grant', revision: 2, newSchema: true },
    { target: 'app', atMs: 600, behaviour, revision: 3, newSchema: true },
  ],
});

test('I9, F22: what holds the lease is launched for ever though a deployment replaced it that aborted', async () => {
  const { violations, results, world } = await run(stuckBeforeAnother('exits-at-start'));
  assert.deepEqual(
    results.map((result) => result?.outcome),
    ['admitted', 'operator-required', 'aborted'],
  );
  assert.deepEqual(violations, []);
  const overMs = world.ledger.of('told-ended').find(({ outcome }) => outcome === 'aborted')?.atMs ?? 0;
  assert.ok(world.ledger.of('started').some(({ atMs }) => atMs > overMs));
});

test('F22: a build that accepts its state replaces what is stuck', async () => {
  const { violations, results } = await run(stuckBeforeAnother('good'));
  assert.deepEqual(
    results.map((result) => result?.outcome),
    ['admitted', 'operator-required', 'admitted'],
  );
  assert.deepEqual(violations, []);
});
