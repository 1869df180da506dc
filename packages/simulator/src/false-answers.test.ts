import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent } from '@idunn/kernel';
import { CALM, type Scenario, twoDeploys } from './scenario.ts';
import { type Broken, Simulation } from './simulation.ts';
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

/**
 * What is admitted is told once to have died, and has not; then the restart is, from the move of its lease until it is
 * asked to end.
 */
function twiceToldDead(): NonNullable<Broken['ports']> {
  const told: string[] = [];
  let moves = 0;
  return (ports) => ({
    ...ports,
    lease: {
      ...ports.lease,
      swap: async (...asked) => {
        moves += 1;
        return await ports.lease.swap(...asked);
      },
    },
    workload: {
      ...ports.workload,
      observe: async (handle, release) => {
        const { activation } = handle;
        const isDue = ports.clock.monotonicMs() >= 1_900 && moves === told.length + 1 && told.length < 2;
        if (isDue && !told.includes(activation)) told.push(activation);
        else if (told[1] !== activation) return await ports.workload.observe(handle, release);
        return absent;
      },
      stop: async (handle, graceMs) => {
        if (told[1] === handle.activation) told[1] = '';
        return await ports.workload.stop(handle, graceMs);
      },
    },
  });
}

const TOLD_DEAD: Scenario = {
  ...restarting({ stores: 1, routed: true }),
  kills: [],
  oddities: [{ target: 'app', atMs: 900, fault: 'death-feigned' }],
  wrongChance: Number.MIN_VALUE,
};

test('I9: what lives without its lease, which a restart took that is over, is replaced', async () => {
  const { violations, world } = await new Simulation(TOLD_DEAD, { ports: twiceToldDead() }).run();
  assert.deepEqual(violations, []);
  const [first, second, third] = world.processes.values();
  assert.deepEqual([first?.alive, second?.alive, third?.alive], [false, false, true]);
  assert.equal(world.named('app')?.activation, third?.id);
});

test('I7: the lease that a deployment gave back meanwhile is read anew, and who holds it is left alone', async () => {
  const meanwhile = { target: 'app', atMs: 2_000, behaviour: 'exits-after-grant', revision: 2 } as const;
  const scenario = { ...TOLD_DEAD, deploys: [...TOLD_DEAD.deploys, meanwhile] };
  const { violations, world, results } = await new Simulation(scenario, { ports: twiceToldDead() }).run();
  assert.deepEqual(violations, []);
  assert.equal(results[1]?.outcome, 'rolled-back');
  const [first] = world.processes.values();
  assert.deepEqual([first?.alive, world.named('app')?.activation], [true, first?.id]);
});
