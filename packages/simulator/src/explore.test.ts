import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHASES } from '@idunn/authority';
import { explore } from './explore.ts';

test('I6: one deployment, one death, one crash at any point: every way is gone, and every phase reached', async (t) => {
  const { runs, courses, phases, failing } = await explore({ deaths: ['incumbent-fenced'], freezes: [null] });
  t.diagnostic(`${runs} runs, ${courses} different courses`);
  assert.deepEqual(failing, []);
  for (const phase of PHASES) assert.ok(phases.has(phase), `${phase} was not reached`);
});

test('I8: one deployment, one freeze, one crash at any point: every way is gone', async (t) => {
  const { runs, courses, failing } = await explore({ deaths: [null], freezes: ['activation-observed'] });
  t.diagnostic(`${runs} runs, ${courses} different courses`);
  assert.deepEqual(failing, []);
});
