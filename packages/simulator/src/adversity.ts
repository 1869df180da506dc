import { dice } from './seed.ts';
import type { FaultName } from './strikes.ts';
import { type Behaviour, ODD } from './world/behaviour.ts';
import type { Unreadable } from './world/world.ts';

/** Keeps this roll apart from the one of the scenario. */
const APART = 0xfa17;

/** Faults that come at their time, whatever is under way. */
const TIMED: readonly FaultName[] = [
  'clock-stood-still',
  'machine-suspended',
  'holder-paused',
  'candidate-paused',
  'presence-flapped',
  'presence-replayed',
  'death-feigned',
];

export interface Adversity {
  readonly wrongChance: number;
  readonly overtakenChance: number;
  readonly fullChance: number;
  readonly unreadable: readonly {
    readonly what: Unreadable;
    readonly target: string;
    readonly fromMs: number;
    readonly untilMs: number;
  }[];
  readonly oddities: readonly { readonly atMs: number; readonly target: string; readonly fault: FaultName }[];
}

interface Adverse {
  readonly seed: number;
  readonly shapes: Readonly<Record<string, unknown>>;
  readonly deploys: readonly { readonly behaviour: Behaviour }[];
}

/**
 * False answers, answers that others overtake, full disks, what cannot be read, clocks, pauses and words that are old
 * or change: by a roll of their own, so that everything else of a scenario stays as it was drawn.
 */
export function withAdversity<T extends Adverse>(scenario: T): T & Adversity {
  const roll = dice(scenario.seed ^ APART);
  const chances = {
    wrongChance: roll.hits(0.25) ? 0.03 : 0,
    overtakenChance: roll.hits(0.2) ? 0.03 : 0,
    fullChance: roll.hits(0.15) ? 0.03 : 0,
  };
  const targets = Object.keys(scenario.shapes);
  const fromMs = roll.between(0, 6_000);
  const what = roll.pick(['process', 'lease', 'route'] as const);
  const unseen = { what, target: roll.pick(targets), fromMs, untilMs: fromMs + roll.between(50, 2_000) };
  return {
    ...scenario,
    ...chances,
    unreadable: roll.hits(0.2) ? [unseen] : [],
    deploys: scenario.deploys.map((deploy) => (roll.hits(0.12) ? { ...deploy, behaviour: roll.pick(ODD) } : deploy)),
    oddities: Array.from({ length: roll.hits(0.4) ? roll.between(1, 4) : 0 }, () => ({
      atMs: roll.between(20, 10_000),
      target: roll.pick(targets),
      fault: roll.pick(TIMED),
    })),
  };
}
