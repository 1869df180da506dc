import { dice } from './seed.ts';
import type { Unreadable } from './world/world.ts';

/** Keeps this roll apart from the one of the scenario. */
const APART = 0xfa17;

/** False answers, answers that others overtake, full disks and what cannot be read, by a roll of their own. */
export function withAdversity<T extends { readonly seed: number; readonly shapes: object }>(
  scenario: T,
): T & Adversity {
  const roll = dice(scenario.seed ^ APART);
  const chances = {
    wrongChance: roll.hits(0.25) ? 0.03 : 0,
    overtakenChance: roll.hits(0.2) ? 0.03 : 0,
    fullChance: roll.hits(0.15) ? 0.03 : 0,
  };
  const fromMs = roll.between(0, 6_000);
  const what = roll.pick(['process', 'lease', 'route'] as const);
  const target = roll.pick(Object.keys(scenario.shapes));
  const unseen = { what, target, fromMs, untilMs: fromMs + roll.between(50, 2_000) };
  return { ...scenario, ...chances, unreadable: roll.hits(0.2) ? [unseen] : [] };
}

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
}
