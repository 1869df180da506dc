import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '@idunn/authority';
import { TEETH } from './broken.ts';
import { run } from './run.ts';

for (const tooth of TEETH) {
  test(`${tooth.breaks}: decisions that ${tooth.name} are caught by that checker, and whole ones pass the same run`, async () => {
    const broken = await run(tooth.scenario, tooth.decide);
    assert.ok(
      broken.violations.some(({ of }) => of === tooth.breaks),
      `seen instead: ${JSON.stringify(broken.violations)} ${JSON.stringify(broken.results.map((result) => result?.outcome))}`,
    );
    assert.equal(broken.violations.filter(({ of }) => of === 'fault').length, 0);
    const whole = await run(tooth.scenario, decide);
    assert.deepEqual(whole.violations, []);
  });
}
