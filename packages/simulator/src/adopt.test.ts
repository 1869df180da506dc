import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALM, diesOnce, type Scenario } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { sweep } from './sweep.ts';
import { refOf } from './world/sources.ts';

const TARGETS = 100;

test('I6: a look that does not come back holds up only the target that it is about', async () => {
  const shape = { stores: 1, routed: false };
  const simulation = new Simulation({ ...CALM, seed: 5, shapes: { app: shape, other: shape }, deploys: [] });
  simulation.begin();
  for (const target of ['app', 'other']) {
    const order = {
      kind: 'up',
      target,
      ref: refOf('good', 1),
      operationId: target,
      actor: 'ada',
      tenant: 'local',
    } as const;
    assert.ok((await simulation.ask((engine) => engine.submit(order))).ok);
  }
  await simulation.pass(5_000);
  const started = () => simulation.world.ledger.of('started').length;
  assert.equal(started(), 2);
  simulation.crash('for the test');
  simulation.kill('other');
  simulation.world.stuck.add('app');
  await simulation.pass(6_000);
  assert.equal(started(), 3);
});

test('I6: running targets are taken up by identity, each with one look and two readings of its own', async () => {
  const names = Array.from({ length: TARGETS }, (_, index) => `app-${index}`);
  const simulation = new Simulation({
    ...CALM,
    seed: 5,
    shapes: Object.fromEntries(names.map((name) => [name, { stores: 1, routed: false }])),
    deploys: [],
  });
  simulation.begin();
  const taken = await simulation.ask((engine) =>
    Promise.all(
      names.map((target) =>
        engine.submit({
          kind: 'up',
          target,
          ref: refOf('good', 1),
          operationId: `op-${target}`,
          actor: 'ada',
          tenant: 'local',
        }),
      ),
    ),
  );
  assert.ok(taken.every(({ ok }) => ok));
  await simulation.pass(5_000);
  const living = () => [...simulation.world.processes.values()].filter(({ alive }) => alive).map(({ id }) => id);
  const before = living();
  assert.equal(before.length, TARGETS);
  simulation.crash('for the test');
  simulation.reads = 0;
  const looked = simulation.world.looks;
  await simulation.pass(1_000);
  assert.equal(simulation.world.looks - looked, TARGETS);
  // Pages of targets, continuity and incidents beside each one's plan, and its release for the spare activation.
  assert.ok(simulation.reads <= 2 * TARGETS + 3, `${simulation.reads} readings of the store`);
  assert.deepEqual(living(), before);
  const views = await simulation.ask((engine) => engine.targets());
  assert.ok(views.every(({ admitted, incidents }) => admitted !== null && incidents.length === 0));
});

test('I6, I9: a restart without the observer goes on wherever an engine dies over it', async () => {
  const atMs = 900;
  const scenario: Scenario = {
    ...diesOnce('good', { stores: 2, routed: true }),
    observerDown: [{ fromMs: atMs - 100, untilMs: atMs + 400 }],
  };
  const { failing, outcomes } = await sweep(scenario);
  assert.deepEqual([...outcomes], ['admitted']);
  assert.deepEqual(
    failing.map(({ crashAt, report }) => ({ crashAt, violations: report.violations })),
    [],
  );
});
