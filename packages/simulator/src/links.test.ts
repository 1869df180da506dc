import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LinkStanding } from '@idunn/authority';
import { CALM } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { refOf } from './world/sources.ts';

test('I6: a lost helper is an incident of the fleet over every life of the engine, and of no target', async () => {
  let standing: LinkStanding = { kind: 'up' };
  let told: () => void = () => undefined;
  const router = {
    standing: () => standing,
    onStanding: (listener: () => void) => {
      told = listener;
    },
  };
  const say = (next: LinkStanding): void => {
    standing = next;
    told();
  };
  const shapes = { app: { stores: 1, routed: true } };
  const scenario = { ...CALM, seed: 3, shapes, deploys: [] };
  const simulation = new Simulation(scenario, { ports: (ports) => ({ ...ports, links: { router } }) });
  simulation.begin();
  const up = await simulation.ask((engine) =>
    engine.submit({
      kind: 'up',
      target: 'app',
      ref: refOf('good', 1),
      operationId: 'o',
      actor: 'ada',
      tenant: 'local',
    }),
  );
  assert.ok(up.ok);
  assert.equal((await simulation.resultOf(up.value.transaction)).outcome, 'admitted');
  const open = () =>
    simulation.ask(async (engine) => engine.incidents().map(({ id, subject, code }) => [id, subject, code]));

  say({ kind: 'down', because: 'connect ECONNREFUSED' });
  await simulation.pass(2_000);
  const [first] = await open();
  assert.deepEqual(first?.slice(1), ['_fleet', 'router-unreachable']);
  for (const next of [{ kind: 'trying' }, { kind: 'down', because: 'it is away' }] as const) {
    standing = next;
    simulation.crash('for the test');
    await simulation.pass(10_000);
    assert.deepEqual(await open(), [first], next.kind);
  }
  const app = await simulation.ask((engine) => engine.target('app'));
  assert.deepEqual(app?.incidents, []);
  say({ kind: 'up' });
  await simulation.pass(5_000);
  assert.deepEqual(await open(), []);
  const events = simulation.told.flatMap((event) =>
    event.event === 'incident' ? [`${event.state} ${event.code}`] : [],
  );
  assert.deepEqual(events, ['opened router-unreachable', 'closed router-unreachable']);
});
