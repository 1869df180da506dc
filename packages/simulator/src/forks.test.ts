import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { ALONE, diesOnce, GATED, twoDeploys } from './scenario.ts';
import { dice } from './seed.ts';
import type { TargetShape } from './world/sources.ts';

const ROWS: TargetShape = { stores: 1, routed: true };
const SHAPES: readonly (readonly [string, TargetShape])[] = [
  ['behind a gate', GATED],
  ['that compares rows', ROWS],
  ['with a directory beside its rows', { stores: 2, routed: true, mixed: true }],
  ['that cannot overlap', ALONE],
  ['without state', { stores: 0, routed: true }],
];

for (const [what, shape] of SHAPES) {
  test(`I1, F15: of a program ${what} the child that it forked is seen gone before another one may write`, async () => {
    const { violations, world } = await run(diesOnce('forks-a-writer', shape));
    assert.deepEqual(violations, []);
    const [dead] = world.ledger.of('ended').filter(({ asked }) => !asked);
    assert.ok(dead !== undefined);
    const after = world.ledger.entries.slice(world.ledger.entries.indexOf(dead));
    const at = (kind: string, activation: string): number =>
      after.findIndex((entry) => entry.kind === kind && 'activation' in entry && entry.activation === activation);
    const [successor] = after.flatMap((entry) => (entry.kind === 'forked' ? [entry.activation] : []));
    assert.ok(at('emptied', dead.activation) > 0, 'its tree was ended');
    if (shape.stores === 0) return;
    assert.ok(at('write', dead.activation) > 0, 'its child wrote on');
    assert.ok(at('emptied', dead.activation) < at('row', successor ?? ''), 'the row moved after that');
  });
}

test('I1, I6, I9: whatever befalls programs that fork, and whenever Idunn dies, no two write', async () => {
  const writersLeft = new Set<number>();
  for (let seed = 1; seed <= 30; seed++) {
    const roll = dice(seed);
    const [, shape] = roll.pick(SHAPES);
    const calm = twoDeploys(roll.pick(['forks-a-writer', 'good', 'exits-after-grant', 'never-active']), shape);
    const { violations, world } = await run({
      ...calm,
      seed,
      deploys: calm.deploys.map((one, at) =>
        at === 0 ? { ...one, behaviour: 'forks-a-writer' } : { ...one, atMs: roll.between(200, 3_000) },
      ),
      kills: Array.from({ length: roll.between(1, 3) }, () => ({ target: 'app', atMs: roll.between(150, 4_000) })),
      crashAt: roll.between(1, 150),
      reboots: roll.hits(0.2) ? [{ atMs: roll.between(200, 3_000) }] : [],
    });
    assert.deepEqual([seed, violations], [seed, []]);
    if (world.ledger.of('emptied').length > 0) writersLeft.add(seed);
  }
  assert.ok(writersLeft.size > 20, `${writersLeft.size} runs had a child to end`);
});
