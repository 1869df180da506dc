import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { twoDeploys } from './scenario.ts';
import { GREEDY } from './world/behaviour.ts';
import { admittedOf } from './world/repository.ts';

const CODES: Readonly<Record<string, string>> = { 'asks-for-a-path': 'invalid-value' };

for (const behaviour of GREEDY) {
  test(`I11: a build that ${behaviour} is rejected by the real compiler, and given nothing`, async () => {
    const { results, violations, world } = await run(twoDeploys(behaviour));
    assert.deepEqual(violations, []);
    const refused = results[1];
    assert.deepEqual([refused?.outcome, refused?.refusal?.code], ['rejected', CODES[behaviour] ?? 'not-admitted']);
    assert.equal(world.ledger.of('started').length, 1);
  });
}

test('I11: the same repository without the request is planned, within what its binding grants', () => {
  const plan = admittedOf('app', 'good/1');
  assert.ok(plan.ok);
  assert.deepEqual(plan.value.launch.secrets, []);
  assert.deepEqual(plan.value.launch.environment, {});
  assert.equal(plan.value.state?.root, '/state/app');
  assert.deepEqual(plan.value.route?.listen, { host: '127.0.0.1', port: 8_000 });
});
