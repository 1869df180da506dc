import { withAdversity } from './adversity.ts';
import { type Restoration, type RivalScenario, withRarer } from './rarer.ts';
import { type Dice, dice } from './seed.ts';
import type { FaultName, Strike } from './strikes.ts';
import type { Behaviour } from './world/behaviour.ts';
import { BEHAVIOURS } from './world/behaviour.ts';
import type { TargetShape } from './world/sources.ts';
import type { Unreadable } from './world/world.ts';

/**
 * The engine dies; the machine starts anew; whoever serves dies; whoever was launched beside it dies; the observer
 * goes, and comes back when every deadline of a deployment has passed.
 */
export type Misfortune = 'death' | 'reboot' | 'incumbent' | 'candidate' | 'observer';

/** What is done to the world, and when; everything else follows from the seed. */
export interface Scenario {
  readonly seed: number;
  /** The target that every other one waits for. */
  readonly observerTarget?: string;
  /** Commands that may wait behind one; the engine's own limit when it is left out. */
  readonly queueDepth?: number;
  readonly shapes: Readonly<Record<string, TargetShape>>;
  readonly deploys: readonly {
    readonly target: string;
    readonly atMs: number;
    readonly behaviour: Behaviour;
    readonly revision: number;
    /** A schema that earlier builds do not accept. */
    readonly newSchema?: boolean;
    /** Built to know nothing of Idunn where its target does, or the other way round. */
    readonly otherKind?: boolean;
  }[];
  /** The crash point at which the engine dies first; `null` for none. */
  readonly crashAt: number | null;
  /** What befalls the world at a crash point, beside the engine's own death. */
  readonly misfortune?: { readonly at: number; readonly what: Misfortune };
  /** What the first effect, reading or durable write behind a crash point meets that can meet it. */
  readonly meets?: { readonly at: number; readonly fault: FaultName };
  /** Chance of death at each later crash point, and of a lost answer at each effect. */
  readonly crashChance: number;
  readonly lostChance: number;
  /** Chance of an answer that comes late, and of an effect that is carried out twice. */
  readonly lateChance?: number;
  readonly doubledChance?: number;
  /** Chance of a false answer, of one that others overtake, and of a full disk under the record store. */
  readonly wrongChance?: number;
  readonly overtakenChance?: number;
  readonly fullChance?: number;
  /** Faults at their time, whatever is under way. */
  readonly oddities?: readonly { readonly atMs: number; readonly target: string; readonly fault: FaultName }[];
  /** Faults at the moment at which a transaction enters a phase, once each. */
  readonly strikes?: readonly Strike[];
  /** Chance of an uncertain answer of the record store at each write. */
  readonly uncertainChance: number;
  readonly kills: readonly { readonly target: string; readonly atMs: number }[];
  readonly freezes: readonly {
    readonly target: string;
    readonly fromMs: number;
    readonly untilMs: number;
    readonly unreadable: boolean;
  }[];
  readonly holds: Scenario['freezes'];
  /** The machine starts anew. */
  readonly reboots: readonly { readonly atMs: number }[];
  /** What operators ask for beside deployments. */
  readonly orders: readonly {
    readonly atMs: number;
    readonly kind: 'cancel' | 'expire' | 'restart';
    readonly target: string;
  }[];
  readonly observerDown: readonly { readonly fromMs: number; readonly untilMs: number }[];
  /** Another authority, with records of its own, over the same state root. */
  readonly rival?: RivalScenario;
  readonly unreadable?: readonly {
    readonly what: Unreadable;
    readonly target: string;
    readonly fromMs: number;
    readonly untilMs: number;
  }[];
  readonly restored?: Restoration;
  readonly wallSteps: readonly { readonly atMs: number; readonly byMs: number }[];
}

export const CALM: Omit<Scenario, 'seed' | 'shapes' | 'deploys'> = {
  crashAt: null,
  crashChance: 0,
  lostChance: 0,
  uncertainChance: 0,
  kills: [],
  freezes: [],
  holds: [],
  reboots: [],
  orders: [],
  observerDown: [],
  wallSteps: [],
};

/** When the last thing that the scenario does to the world is over. */
export const lastFaultMs = (scenario: Scenario): number =>
  Math.max(
    0,
    scenario.restored?.atMs ?? 0,
    ...[
      ...scenario.kills,
      ...scenario.reboots,
      ...scenario.orders,
      ...scenario.wallSteps,
      ...(scenario.oddities ?? []),
    ].map(({ atMs }) => atMs),
    ...[...scenario.freezes, ...scenario.holds, ...scenario.observerDown, ...(scenario.unreadable ?? [])].map(
      ({ untilMs }) => untilMs,
    ),
  ) + 1_000;

const ONE: Readonly<Record<string, TargetShape>> = { app: { stores: 1, routed: true } };

/** Its programs know nothing of Idunn and keep state: behind a gate. */
export const GATED: TargetShape = { stores: 1, routed: true, attended: true };
/** Its incumbent and its candidate cannot stand side by side. */
export const ALONE: TargetShape = { stores: 1, routed: true, alone: true };

/** One target, two deployments: the second meets an incumbent. */
export const twoDeploys = (second: Behaviour, shape: TargetShape = { stores: 1, routed: true }): Scenario => ({
  ...CALM,
  seed: 1,
  shapes: { app: shape },
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
    { target: 'app', atMs: 200, behaviour: second, revision: 2 },
  ],
});

/** One deployment, and what it admitted is killed once. */
export const diesOnce = (behaviour: Behaviour, shape: TargetShape): Scenario => ({
  ...CALM,
  seed: 1,
  shapes: { app: shape },
  deploys: [{ target: 'app', atMs: 10, behaviour, revision: 1 }],
  kills: [{ target: 'app', atMs: 900 }],
});

/** How a target's programs are started: half of them as programs that know Idunn and may overlap. */
function kindOf(roll: Dice): Pick<TargetShape, 'attended' | 'alone' | 'mixed'> {
  if (roll.hits(0.5)) return {};
  return { attended: roll.hits(0.6), alone: roll.hits(0.4), mixed: roll.hits(0.3) };
}

/** A scenario that a seed stands for: a few targets and deployments, with whatever can go wrong. */
export function scenarioOf(seed: number): Scenario {
  const roll = dice(seed);
  const shapes: Record<string, TargetShape> = { ...ONE };
  if (roll.hits(0.6)) shapes['app'] = { ...kindOf(roll), stores: roll.between(0, 3), routed: roll.hits(0.8) };
  if (roll.hits(0.3)) shapes['other'] = { ...kindOf(roll), stores: roll.between(0, 2), routed: roll.hits(0.5) };
  const targets = Object.keys(shapes);
  const deploys = Array.from({ length: roll.between(1, 4) }, (_, index) => ({
    target: roll.pick(targets),
    atMs: index === 0 ? 10 : roll.between(10, 8_000),
    behaviour: roll.hits(0.45) ? ('good' as const) : roll.pick(BEHAVIOURS),
    revision: roll.between(1, 3),
    newSchema: roll.hits(0.1),
    otherKind: roll.hits(0.1),
  }));
  const span = (): { fromMs: number; untilMs: number } => {
    const fromMs = roll.between(0, 6_000);
    return { fromMs, untilMs: fromMs + roll.between(50, 2_000) };
  };
  const several = <T>(chance: number, make: () => T): T[] => (roll.hits(chance) ? [make()] : []);
  return withAdversity(
    withRarer({
      seed,
      shapes,
      deploys,
      crashAt: roll.hits(0.7) ? roll.between(1, 120) : null,
      crashChance: roll.hits(0.4) ? 0.01 : 0,
      lostChance: roll.hits(0.4) ? 0.03 : 0,
      uncertainChance: roll.hits(0.3) ? 0.05 : 0,
      kills: Array.from({ length: roll.hits(0.5) ? roll.between(1, 5) : 0 }, () => ({
        target: roll.pick(targets),
        atMs: roll.between(200, 20_000),
      })),
      freezes: several(0.3, () => ({ target: roll.pick(targets), unreadable: roll.hits(0.3), ...span() })),
      holds: several(0.2, () => ({ target: roll.pick(targets), unreadable: roll.hits(0.3), ...span() })),
      reboots: several(0.15, () => ({ atMs: roll.between(100, 12_000) })),
      orders: Array.from({ length: roll.hits(0.4) ? roll.between(1, 3) : 0 }, () => ({
        atMs: roll.between(10, 9_000),
        kind: roll.pick(['cancel', 'expire', 'restart'] as const),
        target: roll.pick(targets),
      })),
      observerDown: several(0.2, span),
      wallSteps: several(0.3, () => ({ atMs: roll.between(0, 6_000), byMs: roll.pick([-3_600_000, 3_600_000]) })),
      lateChance: roll.hits(0.2) ? 0.03 : 0,
      doubledChance: roll.hits(0.2) ? 0.05 : 0,
    }),
  );
}
