import { type BackPhase, PHASES, type Phase } from '@idunn/authority';
import type { Violation } from './checkers/judged.ts';
import { CALM, type Scenario } from './scenario.ts';
import { Simulation } from './simulation.ts';
import type { Strike } from './strikes.ts';

/** Every way in which one deployment can meet one death of a process, one freeze and one death of Idunn. */
export interface Exploration {
  readonly runs: number;
  /** Different courses of the world: what happened in it, in order, whenever it was. */
  readonly courses: number;
  readonly phases: ReadonlySet<string>;
  readonly outcomes: ReadonlySet<string>;
  readonly failing: readonly { readonly scenario: Scenario; readonly violations: readonly Violation[] }[];
}

type Place = Phase | BackPhase | null;
const PLACES: readonly Place[] = [null, ...PHASES];

/**
 * Runs a deployment over an incumbent for each phase in which a process may die and each in which a freeze may fall,
 * and every such run again for each crash point that it has, until none is left. `deaths` and `freezes` bound it.
 */
export async function explore({
  deaths = PLACES,
  freezes = PLACES,
  seed = 1,
}: {
  deaths?: readonly Place[];
  freezes?: readonly Place[];
  seed?: number;
} = {}): Promise<Exploration> {
  const courses = new Set<string>();
  const phases = new Set<string>();
  const outcomes = new Set<string>();
  const failing: { scenario: Scenario; violations: readonly Violation[] }[] = [];
  let runs = 0;
  const one = async (scenario: Scenario): Promise<number> => {
    const simulation = new Simulation(scenario);
    const { violations, points, results, world } = await simulation.run();
    runs += 1;
    courses.add(
      world.ledger.entries
        .map(courseOf)
        .filter((line) => line !== null)
        .join('\n'),
    );
    for (const event of simulation.told) if (event.event === 'phase') phases.add(event.phase);
    outcomes.add(results.at(-1)?.outcome ?? 'open');
    if (violations.length > 0) failing.push({ scenario, violations });
    return points;
  };
  for (const death of deaths) {
    for (const freeze of freezes) {
      const calm = placed(death, freeze, seed);
      const points = await one(calm);
      for (let crashAt = 1; crashAt <= points; crashAt += 1) await one({ ...calm, crashAt });
    }
  }
  return { runs, courses: courses.size, phases, outcomes, failing };
}

function placed(death: Place, freeze: Place, seed: number): Scenario {
  const strikes: Strike[] = [];
  if (death !== null) strikes.push({ kind: 'deploy', phase: death, fault: 'candidate-killed' });
  if (freeze !== null) strikes.push({ kind: 'deploy', phase: freeze, fault: 'frozen' });
  return {
    ...CALM,
    seed,
    strikes,
    shapes: { app: { stores: 1, routed: true } },
    deploys: [
      { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
      { target: 'app', atMs: 600, behaviour: 'good', revision: 2 },
    ],
  };
}

/** What is left of a deed when its moment and its numbers are forgotten. */
function courseOf(deed: { readonly kind: string; readonly atMs: number }): string | null {
  if (deed.kind === 'write' || deed.kind === 'acked') return null;
  return JSON.stringify({ ...deed, atMs: 0 }).replaceAll(/(act|nonce|req)-\d+/g, '$1');
}
