import { dice } from './seed.ts';
import { type Behaviour, RARER } from './world/behaviour.ts';

/** Keeps this roll apart from the one of the scenario. */
const APART = 0x5eed;

/** What few seeds meet, drawn by a roll of its own: everything else of a scenario stays as it was drawn. */
export function withRarer<T extends { readonly seed: number; readonly deploys: readonly Deploy[] }>(scenario: T): T {
  const roll = dice(scenario.seed ^ APART);
  return {
    ...scenario,
    deploys: scenario.deploys.map((deploy) => (roll.hits(0.08) ? { ...deploy, behaviour: roll.pick(RARER) } : deploy)),
  };
}

interface Deploy {
  readonly behaviour: Behaviour;
}
