import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Decision, type DeployEvidence, decide, type TransactionRecord } from '@idunn/authority';
import { run } from './run.ts';
import { GATED, twoDeploys } from './scenario.ts';
import { dice } from './seed.ts';

test('I1: a launcher that was granted and is kept at its gate is seen gone before another program runs', async () => {
  const outcomes = new Set<string | undefined>();
  const roll = dice(1);
  for (let seed = 1; seed <= 16; seed++) {
    const calm = { ...twoDeploys('lingers-at-its-gate', { ...GATED, alone: seed % 3 === 0 }), seed };
    const order = { target: 'app', atMs: roll.between(250, 2_500), kind: 'expire' as const };
    const { results, violations } = await run({
      ...calm,
      orders: seed % 2 === 0 ? [order] : [],
      crashChance: seed % 4 === 0 ? 0.03 : 0,
      kills: seed % 5 === 0 ? [{ target: 'app', atMs: roll.between(300, 2_500) }] : [],
    });
    assert.deepEqual([seed, violations], [seed, []]);
    outcomes.add(results[1]?.outcome);
  }
  assert.ok(outcomes.has('rolled-back') && outcomes.has('admitted'), [...outcomes].join());
});

test('I2, F16: what was made pass its gate is granted nothing and ends, also beside a restart', async () => {
  for (let killMs = 212; killMs <= 290; killMs += 6) {
    const { results, violations, world } = await run({
      ...twoDeploys('passes-its-gate', GATED),
      kills: [{ target: 'app', atMs: killMs }],
      // Nobody hears for a while that the launcher was started.
      strikes: [{ kind: 'deploy', phase: 'candidate-started', fault: 'answer-late' }],
    });
    assert.deepEqual([killMs, violations], [killMs, []]);
    assert.equal(results[1]?.refusal?.code, 'ran-before-grant');
    const astray = world.ledger.of('ran').filter(({ granted }) => !granted);
    assert.equal(astray.length, 1);
    assert.equal(world.processes.get(astray[0]?.activation ?? '')?.alive, false);
  }
});

/** Believes that the lease moved with the intent, and grants at once. */
function beforeTheSwap(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  const move = 'passage' in state ? state.passage?.move : null;
  if (move === null || move === undefined || e.rows.kind !== 'seen') return decide(tx, e);
  const rows = Object.entries(e.rows.value).map(([store, row]) => [store, { ...row, ...move.to }]);
  return decide(tx, { ...e, rows: { kind: 'seen', value: Object.fromEntries(rows) } });
}

test('I1, I5: a launcher that is told of a grant which its row does not name goes on waiting', async () => {
  const { violations, world } = await run(twoDeploys('good', GATED), { decide: beforeTheSwap });
  assert.deepEqual(violations, []);
  assert.ok(world.ledger.of('granted').length > 0);
  assert.deepEqual(world.ledger.of('ran'), []);
});
