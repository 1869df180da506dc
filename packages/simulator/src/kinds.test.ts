import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { ALONE, CALM, GATED, type Scenario, twoDeploys } from './scenario.ts';
import { sweep } from './sweep.ts';
import { endsSlowly, lyingRestart } from './teeth/kinds.ts';
import type { Behaviour } from './world/behaviour.ts';
import type { TargetShape } from './world/sources.ts';

const OVERLAPPING: TargetShape = { stores: 0, routed: true, attended: true };
const MIXED: TargetShape = { stores: 2, routed: true, mixed: true };

const KINDS: readonly [string, TargetShape, Behaviour, string][] = [
  ['a gated start', GATED, 'good', 'admitted'],
  ['a gated start whose program ends after its grant', GATED, 'exits-after-grant', 'rolled-back'],
  ['a rehearsal that fails', GATED, 'fails-its-rehearsal', 'aborted'],
  ['an overlapping start', OVERLAPPING, 'good', 'admitted'],
  ['stop-then-start', ALONE, 'good', 'admitted'],
  ['stop-then-start of a build that ends at its start', ALONE, 'exits-at-start', 'rolled-back'],
  ['stop-then-start behind a gate', { ...GATED, alone: true }, 'good', 'admitted'],
  ['a directory beside the rows', MIXED, 'good', 'admitted'],
];

for (const [what, shape, behaviour, outcome] of KINDS) {
  test(`I6: ${what} goes on from a death at every write and around every effect`, async () => {
    const swept = await sweep(twoDeploys(behaviour, shape));
    const told = swept.failing.map(({ crashAt, report }) => ({ crashAt, violations: report.violations }));
    assert.deepEqual(told, []);
    assert.deepEqual([...swept.outcomes], [outcome]);
    assert.ok(swept.runs > 90, `${swept.runs} crash points`);
  });
}

const OUTCOMES: readonly [TargetShape, Behaviour, string, string | null][] = [
  [GATED, 'stays-at-its-gate', 'rolled-back', 'candidate-never-active'],
  [GATED, 'exits-at-its-gate', 'aborted', 'candidate-exited'],
  [GATED, 'passes-its-gate', 'aborted', 'ran-before-grant'],
  [GATED, 'other-binary', 'rolled-back', 'executable-mismatch'],
  [GATED, 'never-active', 'rolled-back', 'candidate-never-active'],
  [GATED, 'exits-once-after-grant', 'admitted', null],
  [GATED, 'degrades-when-active', 'admitted', null],
  [ALONE, 'never-warms', 'rolled-back', 'candidate-never-warming'],
  [ALONE, 'other-binary', 'rolled-back', 'executable-mismatch'],
];

for (const [shape, behaviour, outcome, code] of OUTCOMES) {
  const kind = shape === GATED ? 'gated' : 'stop-then-start';
  test(`F7, F18: a ${kind} build that ${behaviour} ends ${outcome}, as ${code ?? 'any good one'}`, async () => {
    const { results, violations, world } = await run(twoDeploys(behaviour, shape));
    assert.deepEqual(violations, []);
    assert.deepEqual([results[1]?.outcome, results[1]?.refusal?.code ?? null], [outcome, code]);
    // What served before serves again, or the new one does.
    assert.equal([...world.processes.values()].filter(({ running }) => running).length, 1);
    if (code !== null) assert.match(JSON.stringify(results[1]?.refusal?.detail), /the last line of act-/);
  });
}

test('I7: a build that cannot start is refused by its rehearsal; its incumbent is asked for nothing', async () => {
  const { results, world } = await run(twoDeploys('fails-its-rehearsal', GATED));
  assert.equal(results[1]?.outcome, 'aborted');
  const [incumbent, ...others] = [...world.processes.values()];
  assert.deepEqual([incumbent?.alive, others.length], [true, 0]);
  assert.equal(world.ledger.of('rehearsed').filter(({ passed }) => !passed).length, 1);
  assert.equal(world.projections.size, 1);
});

test('F15, F25: a predecessor that ends at once costs no grace, and the gap is the program’s own start', async () => {
  const { results } = await run(twoDeploys('good', GATED));
  const longest = results[1]?.requests.longestHoldMs ?? Number.POSITIVE_INFINITY;
  assert.ok(longest < 60, `held for ${longest} ms`);
});

test('F25, I12: while the clock that they share stands still, the proxy holds on, and nothing is cut', async () => {
  for (let atMs = 273; atMs < 300; atMs += 3) {
    const oddities = [{ target: 'app', atMs, fault: 'clock-stood-still' as const }];
    const { violations, results } = await run({ ...twoDeploys('good', GATED), oddities });
    assert.deepEqual([atMs, violations, results[1]?.outcome], [atMs, [], 'admitted']);
  }
});

test('I1: what cannot overlap is launched once a restart that was given up is gone', async () => {
  for (let atMs = 850; atMs <= 1_200; atMs += 10) {
    const { results, violations } = await run(lyingRestart(atMs), { ports: endsSlowly });
    assert.deepEqual([atMs, violations, results[1]?.outcome], [atMs, [], 'admitted']);
  }
});

/** A target whose build begins, or ceases, to know Idunn: its row moves to another place, with the end of the other. */
const changing = (shape: TargetShape, second: Behaviour): Scenario => {
  const calm = twoDeploys(second, shape);
  return { ...calm, deploys: calm.deploys.map((one, index) => (index === 1 ? { ...one, otherKind: true } : one)) };
};

for (const [what, shape, behaviour, outcome] of [
  ['that ceases to know Idunn takes over from', { stores: 1, routed: true }, 'good', 'admitted'],
  ['that begins to know Idunn gives back to', GATED, 'exits-after-grant', 'rolled-back'],
] as const) {
  test(`I1: a build ${what} one of the other kind, whenever Idunn dies`, async () => {
    const swept = await sweep(changing(shape, behaviour));
    const told = swept.failing.map(({ crashAt, report }) => ({ crashAt, violations: report.violations }));
    assert.deepEqual(told, []);
    assert.deepEqual([...swept.outcomes], [outcome]);
  });
}

test('I9: the way back to a build of the other kind passes over a row that its last launch left behind', async () => {
  const shape: TargetShape = { stores: 1, routed: true };
  const { violations, results, world } = await run({
    ...CALM,
    seed: 1,
    shapes: { app: shape },
    deploys: [
      { target: 'app', atMs: 10, behaviour: 'lies-when-relaunched', revision: 1, otherKind: true },
      { target: 'app', atMs: 7_600, behaviour: 'exits-after-grant', revision: 2 },
    ],
    kills: [{ target: 'app', atMs: 1_900 }],
  });
  assert.deepEqual(violations, []);
  assert.equal(results[1]?.outcome, 'operator-required');
  const [first] = world.processes.values();
  const again = world.ledger.of('started').filter(({ atMs, activation }) => {
    return atMs > 8_700 && world.activations.get(activation)?.incarnation === first?.activation.incarnation;
  });
  assert.ok(again.length > 0);
});
