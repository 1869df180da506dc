import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS } from './strikes.ts';
import { cellOf, printed, STRIKES } from './table.ts';

for (const kind of KINDS) {
  test(`I6: each fault in each phase of a ${kind} is run, keeps every promise, or says why it cannot be`, async () => {
    const cells = [];
    for (const strike of STRIKES) if (strike.kind === kind) cells.push(await cellOf(strike));
    const broken = cells.filter((cell) => cell.reached && cell.violations.length > 0);
    assert.deepEqual(broken, [], printed(cells));
    const empty = cells.filter((cell) => !cell.reached && cell.because === null);
    assert.deepEqual(empty, [], printed(cells));
    const excused = cells.filter((cell) => cell.reached && cell.because !== null);
    assert.deepEqual(excused, [], printed(cells));
  });
}
