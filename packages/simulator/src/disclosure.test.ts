import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { CALM, type Scenario } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { DISAGREES_MEANWHILE } from './teeth/disclosure.ts';
import { pause } from './world/pause.ts';
import { refOf, type TargetShape } from './world/sources.ts';

const ROUTED: TargetShape = { stores: 1, routed: true };

function fleet() {
  const shapes = { app: ROUTED, other: ROUTED };
  const simulation = new Simulation({ ...CALM, seed: 5, shapes, deploys: [] });
  simulation.begin();
  const up = async (operationId: string, ref: string, target = 'app'): Promise<string> => {
    const taken = await simulation.ask((engine) =>
      engine.submit({ kind: 'up', target, ref, operationId, actor: 'ada', tenant: 'local' }),
    );
    assert.ok(taken.ok);
    return taken.value.transaction;
  };
  const view = async (target: string) => {
    const seen = await simulation.ask((engine) => engine.target(target));
    assert.ok(seen);
    return seen;
  };
  return { simulation, up, view };
}

test('I4: what came to disagree while the observer was away is shown before a waiting deployment goes on', async () => {
  const { simulation, up, view } = fleet();
  for (const target of ['app', 'other']) {
    const first = await up(`first-${target}`, refOf('lies-when-relaunched', 1), target);
    assert.equal((await simulation.resultOf(first)).outcome, 'admitted');
  }
  simulation.observer(false);
  simulation.kill('app');
  simulation.kill('other');
  await simulation.pass(500);
  const pending = await up('second', refOf('good', 2));
  await simulation.pass(2_000);
  assert.equal((await view('app')).transaction?.phase, 'sealed');
  simulation.observer(true);
  while ((await view('app')).transaction?.phase === 'sealed') await simulation.pass(1);
  for (const target of ['app', 'other']) {
    const admitted = (await view(target)).incarnations.find(({ role }) => role === 'admitted');
    assert.notDeepEqual(admitted?.disagreements, [], `${target} disagrees as the deployment goes on`);
  }
  assert.equal((await simulation.resultOf(pending)).outcome, 'admitted');
});

test('I10: a verdict that never comes is shown as missing, holds nothing up for ever, and closes with it', async () => {
  const { simulation, up, view } = fleet();
  for (const target of ['app', 'other']) {
    assert.equal(
      (await simulation.resultOf(await up(`first-${target}`, refOf('good', 1), target))).outcome,
      'admitted',
    );
  }
  simulation.observer(false);
  await simulation.pass(100);
  const silent = [...simulation.world.processes.values()].find(({ activation }) => activation.target === 'other');
  assert.ok(silent);
  pause(simulation.world, silent, 60_000);
  simulation.observer(true);
  const pending = await up('second', refOf('good', 2));
  await simulation.pass(29_000);
  const waiting = (await view('app')).transaction;
  assert.equal(waiting?.phase, 'sealed');
  assert.match(waiting?.waitingOn?.what ?? '', /^the observer, which is to judge other@/);
  assert.deepEqual((await view('other')).incidents, []);
  assert.equal((await simulation.resultOf(pending)).outcome, 'admitted');
  await simulation.pass(3_000);
  assert.deepEqual(
    (await view('other')).incidents.map(({ code }) => code),
    ['verdict-missing'],
  );
  await simulation.pass(40_000);
  assert.deepEqual((await view('other')).incidents, []);
});

test('I4: what first speaks to an observer that is back is judged by it, and holds nothing up', async () => {
  // It is started while the observer is away, published to the next one, and says its first word later still.
  for (let atMs = 990; atMs < 998; atMs += 1) {
    const scenario: Scenario = {
      ...CALM,
      seed: 21,
      shapes: { app: ROUTED },
      deploys: [
        { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
        { target: 'app', atMs: 3_000, behaviour: 'good', revision: 2 },
      ],
      kills: [{ target: 'app', atMs }],
      observerDown: [{ fromMs: 700, untilMs: 1_000 }],
    };
    const { violations } = await run(scenario);
    assert.deepEqual([atMs, violations], [atMs, []]);
  }
});

test('I10: a verdict that never comes is shown as missing by a daemon that began on a link that stands', async () => {
  const { simulation, up, view } = fleet();
  assert.equal((await simulation.resultOf(await up('first', refOf('good', 1)))).outcome, 'admitted');
  simulation.observer(false);
  await simulation.pass(100);
  const [silent] = simulation.world.processes.values();
  assert.ok(silent);
  pause(simulation.world, silent, 60_000);
  simulation.observer(true);
  simulation.crash('between two words');
  const codes = async (): Promise<readonly string[]> => (await view('app')).incidents.map(({ code }) => code);
  await simulation.pass(29_000);
  assert.deepEqual(await codes(), []);
  await simulation.pass(4_000);
  assert.deepEqual(await codes(), ['verdict-missing']);
  await simulation.pass(40_000);
  assert.deepEqual(await codes(), []);
});

test('I4, I6: the order holds wherever the engine dies meanwhile', async () => {
  for (let crashAt = 60; crashAt < 160; crashAt += 4) {
    const { violations } = await run({ ...DISAGREES_MEANWHILE, crashAt });
    assert.deepEqual({ crashAt, violations }, { crashAt, violations: [] });
  }
});
