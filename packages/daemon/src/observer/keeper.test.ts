import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineEvent, OutcomeName } from '@idunn/authority';
import { randomIds, StoreFault, systemClock } from '@idunn/kernel';
import { FakeEngine } from '../testing/fake-parts.ts';
import { observerKeeper } from './keeper.ts';

const outcome = (name: OutcomeName): EngineEvent => ({
  event: 'outcome',
  at: '2026-11-30T00:00:00.000Z',
  target: 'observer',
  transaction: 'tx-1',
  outcome: name,
  incarnation: null,
  revision: null,
  durationMs: 1,
  ownMs: 1,
  writeGapMs: null,
  requests: { held: 0, failed: 0, longestHoldMs: 0 },
  refusal: null,
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function kept() {
  const engine = new FakeEngine();
  const waits: { ms: number; fire: () => void }[] = [];
  const timers = { after: (ms: number, fire: () => void) => (waits.push({ ms, fire }), () => undefined) };
  const said: string[] = [];
  const parts = { target: 'observer', engine, clock: systemClock(), ids: randomIds, timers };
  return { engine, waits, said, keeper: observerKeeper({ ...parts, log: (text) => said.push(text) }) };
}

test('F28: a store that refuses is told and asked again; it does not end the daemon', async () => {
  const { engine, waits, said, keeper } = kept();
  engine.submit = () => Promise.reject(new StoreFault('store-full', 'No space is left.'));
  keeper.ensure();
  await settled();
  assert.match(said.join(), /No space is left/);
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [1_000],
  );
});

test('the observer is asked for by Idunn itself again after a death, with a growing wait after failures', async () => {
  const { engine, waits, keeper } = kept();
  keeper.ensure();
  await settled();
  assert.deepEqual(
    engine.submitted.map(({ target, actor }) => [target, actor]),
    [['observer', 'idunn']],
  );
  keeper.ensure(); // It died while it was being brought up: one more look, not a second deployment beside it.
  await settled();
  assert.equal(engine.submitted.length, 1);
  keeper.hear(outcome('admitted'));
  await settled();
  assert.equal(engine.submitted.length, 2);

  keeper.hear(outcome('aborted'));
  waits[0]?.fire();
  await settled();
  keeper.hear(outcome('aborted'));
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [1_000, 2_000],
  );
  keeper.stop();
  waits[1]?.fire();
  await settled();
  assert.equal(engine.submitted.length, 3);
});
