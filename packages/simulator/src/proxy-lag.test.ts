import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALM } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { refOf } from './world/sources.ts';

/** A second deployment whose proxy takes so long to serve what it has accepted. */
async function lagging(proxyLagMs: number) {
  const shapes = { app: { stores: 1, routed: true } };
  const simulation = new Simulation({ ...CALM, seed: 5, shapes, deploys: [] });
  simulation.begin();
  const up = async (n: number): Promise<string> => {
    const command = { kind: 'up', target: 'app', ref: refOf('good', n), operationId: `op-${n}` } as const;
    const taken = await simulation.ask((engine) => engine.submit({ ...command, actor: 'ada', tenant: 'local' }));
    assert.ok(taken.ok);
    return taken.value.transaction;
  };
  const view = async () => {
    const seen = await simulation.ask((engine) => engine.target('app'));
    assert.ok(seen);
    return seen;
  };
  assert.equal((await simulation.resultOf(await up(1))).outcome, 'admitted');
  const first = (await view()).admitted?.activation;
  simulation.world.proxyLagMs = proxyLagMs;
  const second = await up(2);
  while (simulation.world.named('app')?.activation === first) await simulation.pass(1);
  await simulation.pass(100);
  return { simulation, view, first, second };
}

test('I3: a proxy that lags is waited for by name, and nobody is admitted before it serves the new one', async () => {
  const { simulation, view, first, second } = await lagging(600);
  const { transaction, admitted, lease, route } = await view();
  assert.match(
    transaction?.waitingOn?.what ?? '',
    /^the proxy to be seen serving the new member: it answered 200 from/,
  );
  assert.equal(admitted?.activation, first);
  assert.notEqual(lease?.activation, first, 'the lease is the candidate’s, and grants no traffic');
  const [served] = simulation.world.route('app')?.members ?? [];
  assert.deepEqual([served?.activation, route?.members[0]?.incarnation], [first, admitted?.incarnation]);
  assert.equal((await simulation.resultOf(second)).outcome, 'admitted');
  const [later] = simulation.world.route('app')?.members ?? [];
  assert.equal(later?.activation, (await view()).admitted?.activation);
});

test('I3, F8: a proxy that lags past the deadline is no route; what it accepted late is served to nobody', async () => {
  const { simulation, view, second } = await lagging(5_000);
  const result = await simulation.resultOf(second);
  assert.deepEqual([result.outcome, result.refusal?.code], ['rolled-back', 'route-not-observed']);
  simulation.world.proxyLagMs = 0;
  await simulation.pass(20_000);
  const { admitted, lease, incidents } = await view();
  const [served] = simulation.world.route('app')?.members ?? [];
  assert.deepEqual([served?.activation, lease?.activation], [admitted?.activation, admitted?.activation]);
  assert.deepEqual(incidents, []);
});

test('I8: a freeze that comes past the fence holds nothing: a deployment is never stopped in the middle', async () => {
  const { simulation, second } = await lagging(600);
  simulation.world.stop('freeze', 'app', { by: 'ops', reason: 'audit' });
  assert.equal((await simulation.resultOf(second)).outcome, 'admitted');
});
