import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALONE, GATED, type Misfortune, twoDeploys } from './scenario.ts';
import { misfortunes, type Struck } from './sweep.ts';
import type { TargetShape } from './world/sources.ts';

/** The rows of the table of what befalls a deployment, by the phases that each is about. */
const ROWS = {
  'up to warming': [
    'planned',
    'materialized',
    'sealed',
    'expected-published',
    'activation-issued',
    'candidate-started',
    'activation-observed',
    'warming',
  ],
  'from the fence to route-observed': [
    'incumbent-fenced',
    'write-lease-granted',
    'ready-observed',
    'route-published',
    'route-observed',
  ],
  'from fence-cleared on': ['fence-cleared', 'draining', 'complete'],
} as const;
type Row = keyof typeof ROWS;

const SHAPES: Readonly<Record<string, TargetShape>> = {
  embedded: { stores: 1, routed: true },
  'without state': { stores: 0, routed: true },
  gated: GATED,
  'stop-then-start': ALONE,
};

/**
 * How the deployment may end. A candidate that dies before anything moved ends it, afterwards it is launched anew
 * inside it; everybody else's death ends nothing. Without the observer it ends before its fence, returns after it, and
 * goes on only where the receipt was held.
 */
const ENDS: Readonly<Record<Misfortune, Readonly<Record<Row, readonly string[]>>>> = {
  death: always(['admitted']),
  reboot: always(['admitted']),
  incumbent: always(['admitted']),
  candidate: {
    ...always(['admitted']),
    'up to warming': ['aborted', 'admitted'],
    'from the fence to route-observed': ['aborted', 'admitted'],
  },
  observer: {
    'up to warming': ['aborted', 'admitted', 'rolled-back'],
    'from the fence to route-observed': ['admitted', 'rolled-back'],
    'from fence-cleared on': ['admitted', 'aborted'],
  },
};

function always(outcomes: readonly string[]): Readonly<Record<Row, readonly string[]>> {
  return { 'up to warming': outcomes, 'from the fence to route-observed': outcomes, 'from fence-cleared on': outcomes };
}

/** The engine's own death has sweeps of its own for each kind. */
const MISFORTUNES = ['reboot', 'incumbent', 'candidate', 'observer'] as const;
const TOLD: Readonly<Record<Misfortune, string>> = {
  death: 'Idunn dies',
  reboot: 'the machine reboots',
  incumbent: 'the incumbent dies',
  candidate: 'the candidate dies',
  observer: 'the observer is gone',
};

for (const [kind, shape] of Object.entries(SHAPES)) {
  for (const what of MISFORTUNES) {
    test(`I1, I6, I7, I9: ${kind}, whenever ${TOLD[what]}`, async (t) => {
      // Points come in pairs, before and after; an odd stride meets both.
      const struck = await misfortunes(twoDeploys('good', shape), what, kind === 'embedded' ? 1 : 3);
      assert.deepEqual(
        struck.filter(({ violations }) => violations.length > 0),
        [],
      );
      for (const [row, phases] of Object.entries(ROWS) as [Row, readonly string[]][]) {
        await t.test(`${row}, ${TOLD[what]}`, () => {
          const here = struck.filter(({ phase }) => phases.includes(phase));
          assert.ok(here.length > 1, `${here.length} points`);
          assert.deepEqual(odd(here, ENDS[what][row]), []);
          for (const { outcome, code } of here) {
            if (outcome !== 'admitted') assert.equal(code, CODES[what], outcome);
          }
        });
      }
    });
  }
}

const CODES: Readonly<Record<Misfortune, string | null>> = {
  death: null,
  reboot: null,
  incumbent: null,
  candidate: 'candidate-exited',
  observer: 'observer-unreachable',
};

const odd = (struck: readonly Struck[], ends: readonly string[]): readonly Struck[] =>
  struck.filter(({ outcome }) => !ends.includes(outcome));

test('I6: every phase that has an effect or a write of its own is one in which Idunn died and went on', async () => {
  const struck = await misfortunes(twoDeploys('good', SHAPES['embedded']), 'death');
  const died = new Set(struck.map(({ phase }) => phase));
  // The others begin and end in one commit, or are only seen to hold.
  const instant = ['ready-observed', 'fence-cleared'];
  assert.deepEqual(
    Object.values(ROWS)
      .flat()
      .filter((phase) => !died.has(phase)),
    instant,
  );
});

test('I4, I7: past its fence, without the observer, it goes on with the receipt it holds or gives back', async () => {
  const struck = await misfortunes(twoDeploys('good', SHAPES['embedded']), 'observer');
  const of = (phase: string) => new Set(struck.filter((one) => one.phase === phase).map(({ outcome }) => outcome));
  assert.deepEqual([...of('incumbent-fenced')], ['rolled-back']);
  assert.deepEqual([...of('route-observed')], ['admitted']);
});

test('I6, F16: the way back goes on from every misfortune as well', async () => {
  for (const [behaviour, shape] of [
    ['says-failed', SHAPES['embedded']],
    ['exits-after-grant', GATED],
    ['never-warms', ALONE],
  ] as const) {
    for (const what of MISFORTUNES) {
      const struck = await misfortunes(twoDeploys(behaviour, shape), what, 5);
      assert.deepEqual(
        struck.filter(
          ({ violations, outcome }) => violations.length > 0 || !['rolled-back', 'aborted'].includes(outcome),
        ),
        [],
        `${behaviour}, ${what}`,
      );
    }
  }
});
