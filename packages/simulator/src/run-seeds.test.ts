import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeeds, type Told } from './run-seeds.ts';
import { NOTHING, together, total } from './tally.ts';

async function ran(seeds: number, workers: number, onTold: (told: Told, stop: () => void) => void = () => undefined) {
  let tally = NOTHING;
  const running = runSeeds({ from: 1, seeds }, workers, (told) => {
    if ('tally' in told) tally = together(tally, told.tally);
    onTold(told, running.stop);
  });
  await running.done;
  return tally;
}

test('workers that share seeds out run each of them once, and what came of them is the same', async () => {
  const [alone, shared] = await Promise.all([ran(40, 1), ran(40, 2)]);
  assert.equal(alone.seeds, 40);
  assert.deepEqual(shared, alone);
  for (const kind of ['deploy', 'restart', 'continuity']) assert.ok((alone.transactions[kind] ?? 0) > 0, kind);
  assert.equal(total(alone.outcomes), alone.transactions['deploy']);
});

test('workers that are stopped tell what they have', async () => {
  const tally = await ran(2_000, 2, (_told, stop) => stop());
  assert.ok(tally.seeds > 0 && tally.seeds < 2_000, `${tally.seeds} seeds`);
});
