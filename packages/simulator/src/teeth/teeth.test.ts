import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TEETH } from './all.ts';
import { bite } from './bite.ts';

for (const tooth of TEETH) {
  test(`${tooth.breaks}: a variant that ${tooth.name} is caught by that checker, whole decisions pass`, async () => {
    const bitten = await bite(tooth);
    assert.ok(!bitten.survived, JSON.stringify(bitten));
  });
}

test('there are at least 32 teeth, each with a name of its own, and at least one for each invariant', () => {
  assert.ok(TEETH.length >= 32, `${TEETH.length}`);
  assert.equal(new Set(TEETH.map(({ name }) => name)).size, TEETH.length);
  const invariants = Array.from({ length: 12 }, (_, index) => `I${index + 1}`);
  const bare = invariants.filter((invariant) => !TEETH.some(({ breaks }) => breaks === invariant));
  assert.deepEqual(bare, []);
});
