import assert from 'node:assert/strict';
import { test } from 'node:test';
import { twoDeploys } from './scenario.ts';
import { Simulation } from './simulation.ts';
import type { World } from './world/world.ts';

test('I6, I9: a deployment that is expired in the middle of a move between stores makes it whole first', async () => {
  let torn = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const calm = twoDeploys('good', { stores: 3, routed: true });
    const atMs = (calm.deploys[1]?.atMs ?? 0) + 60 + seed * 5;
    const orders = [{ kind: 'expire', target: 'app', atMs }] as const;
    const simulation = new Simulation({ ...calm, seed, lostChance: 0.2, orders });
    const { violations, world } = await simulation.run();
    assert.deepEqual([seed, violations], [seed, []]);
    if (isTornAt(world, expiredAtMs(world))) torn += 1;
  }
  assert.ok(torn > 5, `${torn} were torn`);
});

const expiredAtMs = (world: World): number =>
  world.ledger.of('answered').find(({ command, code }) => command.kind === 'expire' && code === null)?.atMs ?? 0;

/** The stores differed about who may write. */
function isTornAt(world: World, atMs: number): boolean {
  const named = new Map<string, string>();
  for (const row of world.ledger.of('row')) {
    if (row.atMs < atMs) named.set(row.store, `${row.activation} ${row.epoch}`);
  }
  return new Set(named.values()).size > 1;
}
