import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALM, type Scenario, twoDeploys } from './scenario.ts';
import type { FaultName } from './strikes.ts';
import { meeting } from './sweep.ts';
import type { Behaviour } from './world/behaviour.ts';
import type { TargetShape } from './world/sources.ts';

const SHAPES: Readonly<Record<string, { readonly shape: TargetShape; readonly every: number }>> = {
  embedded: { shape: { stores: 1, routed: true }, every: 5 },
  'of three stores': { shape: { stores: 3, routed: true }, every: 13 },
  'without state': { shape: { stores: 0, routed: true }, every: 11 },
  gated: { shape: { stores: 1, routed: true, attended: true }, every: 7 },
  'stop-then-start': { shape: { stores: 1, routed: true, alone: true }, every: 13 },
  'beside a directory': { shape: { stores: 1, routed: true, mixed: true }, every: 13 },
};

const TOLD: Partial<Record<FaultName, string>> = {
  'effect-claimed': 'a driver says that it did what it did not do',
  'effect-denied': 'a driver refuses what it has done',
  'reading-garbled': 'a reading tells of something else',
  'effect-overtaken': 'what was asked is carried out after what was asked later',
};

const restarting = (shape: TargetShape): Scenario => ({
  ...CALM,
  seed: 1,
  shapes: { app: shape },
  deploys: [{ target: 'app', atMs: 10, behaviour: 'good', revision: 1 }],
  kills: [{ target: 'app', atMs: 900 }],
});
const over = (shape: TargetShape, second: Behaviour): Scenario => twoDeploys(second, shape);

const ENDS: ReadonlySet<string> = new Set(['admitted', 'aborted', 'rolled-back', 'rejected']);

for (const [kind, { shape, every }] of Object.entries(SHAPES)) {
  for (const [fault, told] of Object.entries(TOLD) as [FaultName, string][]) {
    test(`F8, I9: ${kind}, whenever ${told}, every promise is kept and the target is served`, async (t) => {
      for (const [what, scenario] of [
        ['a deployment', over(shape, 'good')],
        ['a return', over(shape, 'exits-after-grant')],
        ['a restart', restarting(shape)],
      ] as const) {
        await t.test(what, async () => {
          const met = await meeting(scenario, fault, every);
          assert.ok(met.length > 6);
          assert.deepEqual(
            met.filter(({ violations, outcome }) => violations.length > 0 || !ENDS.has(outcome)),
            [],
          );
        });
      }
    });
  }
}
