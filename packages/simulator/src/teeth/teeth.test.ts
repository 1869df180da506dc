import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../run.ts';
import { TEETH } from './all.ts';

for (const tooth of TEETH) {
  test(`${tooth.breaks}: a variant that ${tooth.name} is caught by that checker, whole decisions pass`, async () => {
    const broken = await run(tooth.scenario, tooth);
    assert.ok(
      broken.violations.some(({ of }) => of === tooth.breaks),
      `seen instead: ${JSON.stringify([broken.violations, broken.results.map((result) => result?.outcome)])}`,
    );
    assert.equal(broken.violations.filter(({ of }) => of === 'fault').length, 0);
    const whole = await run(tooth.scenario);
    assert.deepEqual(whole.violations, []);
  });
}
