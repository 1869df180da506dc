import { dice } from './seed.ts';
import { type Behaviour, RARER } from './world/behaviour.ts';

/** Keeps this roll apart from the one of the scenario. */
const APART = 0x5eed;

/** What another fleet does with a target of this one. */
export interface RivalScenario {
  readonly target: string;
  /** Its programs know nothing of Idunn; as the target's own where it is left out. */
  readonly attended?: boolean;
  readonly deploys: readonly { readonly atMs: number; readonly behaviour: Behaviour }[];
  /** The crash point of its own at which it dies once. */
  readonly crashAt?: number;
}

/** The record store is put back as a backup has it, while the world went on. */
export interface Restoration {
  readonly takenAtMs: number;
  readonly atMs: number;
}

interface Drawn {
  readonly seed: number;
  readonly shapes: Readonly<Record<string, { readonly stores: number }>>;
  readonly deploys: readonly { readonly behaviour: Behaviour }[];
  readonly rival?: RivalScenario;
  readonly restored?: Restoration;
}

/** What few seeds meet, drawn by a roll of its own: everything else of a scenario stays as it was drawn. */
export function withRarer<T extends Drawn>(scenario: T): T {
  const roll = dice(scenario.seed ^ APART);
  const deploys = scenario.deploys.map((deploy) =>
    roll.hits(0.08) ? { ...deploy, behaviour: roll.pick(RARER) } : deploy,
  );
  const stateful = Object.keys(scenario.shapes).filter((target) => (scenario.shapes[target]?.stores ?? 0) > 0);
  if (stateful.length === 0) return { ...scenario, deploys };
  const takenAtMs = roll.between(10, 6_000);
  const restored = roll.hits(0.06) ? { takenAtMs, atMs: takenAtMs + roll.between(10, 6_000) } : undefined;
  if (restored !== undefined) return { ...scenario, deploys, restored };
  if (!roll.hits(0.06)) return { ...scenario, deploys };
  const rival = {
    target: roll.pick(stateful),
    attended: roll.hits(0.5),
    deploys: Array.from({ length: roll.between(1, 2) }, () => ({
      // Soon after the start they meet over a state that nobody has claimed.
      atMs: roll.hits(0.5) ? roll.between(1, 60) : roll.between(60, 6_000),
      behaviour: 'good' as const,
    })),
    ...(roll.hits(0.4) ? { crashAt: roll.between(1, 80) } : {}),
  };
  return { ...scenario, deploys, rival };
}
