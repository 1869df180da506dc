import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TEETH } from './broken.ts';
import { TEETH_OF_KINDS } from './broken-kinds.ts';
import { run } from './run.ts';

for (const tooth of [...TEETH, ...TEETH_OF_KINDS]) {
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
