import type { Checked } from '../checkers/judged.ts';
import { run } from '../run.ts';
import type { Scenario } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** What came of one broken variant. */
export interface Bite {
  readonly name: string;
  readonly invariant: Checked;
  /** Whoever saw it, each once. */
  readonly caughtBy: readonly Checked[];
  readonly scenario: string;
  /** Its own checker did not see it, an exception came first, or whole decisions do not pass the same run. */
  readonly survived: boolean;
}

/** Runs a variant, and whole decisions over the same scenario. */
export async function bite(tooth: Tooth): Promise<Bite> {
  const { name, breaks, scenario } = tooth;
  const caughtBy = [...new Set((await run(scenario, tooth)).violations.map(({ of }) => of))];
  const whole = await run(scenario);
  const isSeen = caughtBy.includes(breaks) && !caughtBy.includes('fault');
  const survived = !isSeen || whole.violations.length > 0;
  return { name, invariant: breaks, caughtBy, scenario: inWords(scenario), survived };
}

/** The builds of a scenario, how their target is started, and what befalls it. */
function inWords(scenario: Scenario): string {
  const builds = scenario.deploys.map(({ behaviour }) => behaviour).join(', then ');
  const kinds = Object.values(scenario.shapes).map(({ attended, alone, mixed }) =>
    alone === true ? 'stop-then-start' : attended === true ? 'gated' : mixed === true ? 'with a directory' : 'embedded',
  );
  const spans = Object.entries(scenario).filter(([, value]) => Array.isArray(value) && value.length > 0);
  const faults = spans.map(([what]) => what).filter((what) => what !== 'deploys' && what !== 'strikes');
  const strikes = (scenario.strikes ?? []).map(({ fault, phase }) => `${fault} in ${phase}`);
  const crash = scenario.crashAt === null ? [] : [`death at point ${scenario.crashAt}`];
  return [`${builds} (${kinds.join(', ')})`, ...faults, ...strikes, ...crash].join('; ');
}
