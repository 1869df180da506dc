import assert from 'node:assert/strict';
import { test } from 'node:test';
import { twoDeploys } from './scenario.ts';
import { Simulation } from './simulation.ts';
import type { World } from './world/world.ts';

test('I1: a deployment that goes back before it ended what compares no row lets that one write on, alone', async () => {
  let written = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const { deploys, ...calm } = twoDeploys('good', { stores: 2, routed: true, mixed: true });
    const [first, second] = deploys;
    assert.ok(first && second);
    const orders = [{ kind: 'expire', target: 'app', atMs: second.atMs + 70 + seed }] as const;
    const unfenced = [{ ...first, behaviour: 'own-database' as const }, second];
    const simulation = new Simulation({ ...calm, deploys: unfenced, seed, orders });
    const { violations, world } = await simulation.run();
    assert.deepEqual([seed, violations], [seed, []]);
    if (wroteUnnamed(world)) written += 1;
  }
  assert.ok(written > 2, `${written} wrote while their row named nobody`);
});

/** The first program wrote while the row was on its way back to it. */
function wroteUnnamed(world: World): boolean {
  const [first] = world.processes.keys();
  const rows = world.ledger.of('row').filter(({ store }) => store === 'app/store-0');
  const back = rows.findLastIndex(({ activation }) => activation === first);
  const [unnamed, named] = [rows[back - 1], rows[back]];
  if (back < 2 || unnamed === undefined || named === undefined) return false;
  return world.ledger
    .of('write')
    .some(({ activation, atMs }) => activation === first && atMs >= unnamed.atMs && atMs <= named.atMs + 20);
}
