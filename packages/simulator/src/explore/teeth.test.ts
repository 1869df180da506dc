import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Checked } from '../checkers/judged.ts';
import { TEETH } from '../teeth/all.ts';
import { explore } from './graph.ts';
import { deployment, restart, type Small } from './kinds.ts';

/** Broken variants of runs that a small world shows too; what never ends there shows as one that cannot settle here. */
const SHOWN: readonly { readonly tooth: string; readonly of?: Checked; readonly small: Small }[] = [
  { tooth: 'overlooks a freeze', small: deployment('stateful, routed', { freeze: 1 }) },
  { tooth: 'grants an epoch twice', small: deployment('stateful, routed', {}) },
  { tooth: 'takes the route for granted', small: deployment('stateful, routed', {}) },
  { tooth: 'makes up Ready', small: deployment('stateful, routed', {}) },
  { tooth: 'fences without an echo', small: deployment('stateful, routed', {}, { incumbent: 'own-database' }) },
  { tooth: 'believes any executable', small: deployment('stateful, routed', {}, { candidate: 'other-binary' }) },
  { tooth: 'never brings back', of: 'ends', small: restart('stateful, routed', { death: 1 }) },
  { tooth: 'reuses a dead lease', small: restart('stateful, routed', { death: 1 }) },
  { tooth: 'runs it beside its predecessor', small: deployment('behind a gate', {}) },
  { tooth: 'starts it beside what it excludes', small: deployment('stop-then-start', {}) },
];

for (const { tooth: name, of, small } of SHOWN) {
  const tooth = TEETH.find((one) => one.name === name);
  assert.ok(tooth !== undefined, name);
  const breaks = of ?? tooth.breaks;
  test(`${tooth.breaks}: a variant that ${name} is caught in the graph, and whole decisions pass`, async () => {
    const { decide, decideContinuity } = tooth;
    const { findings } = await explore({ ...small, decide, decideContinuity });
    assert.ok(
      findings.some((finding) => finding.of === breaks),
      `found instead: ${JSON.stringify(findings.map((finding) => [finding.of, finding.detail]))}`,
    );
    const whole = await explore(small);
    assert.deepEqual(whole.findings, []);
    assert.ok(whole.whole);
  });
}
