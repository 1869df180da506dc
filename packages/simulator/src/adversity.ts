import { dice } from './seed.ts';

/** Keeps this roll apart from the one of the scenario. */
const APART = 0xfa17;

/** False answers, answers that others overtake and full disks, by a roll of their own. */
export function withAdversity<T extends { readonly seed: number }>(scenario: T): T & Adversity {
  const roll = dice(scenario.seed ^ APART);
  return {
    ...scenario,
    wrongChance: roll.hits(0.25) ? 0.03 : 0,
    overtakenChance: roll.hits(0.2) ? 0.03 : 0,
    fullChance: roll.hits(0.15) ? 0.03 : 0,
  };
}

export interface Adversity {
  readonly wrongChance: number;
  readonly overtakenChance: number;
  readonly fullChance: number;
}
