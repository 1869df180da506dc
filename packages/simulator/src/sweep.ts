import { type Report, run } from './run.ts';
import type { Scenario } from './scenario.ts';

export interface Sweep {
  readonly runs: number;
  /** Outcomes of the last transaction over all runs. */
  readonly outcomes: ReadonlySet<string>;
  readonly failing: readonly { readonly crashAt: number; readonly report: Report }[];
}

/** Runs a scenario once for each crash point that it has: the engine dies there, and a new one goes on. */
export async function sweep(scenario: Scenario): Promise<Sweep> {
  const calm = await run({ ...scenario, crashAt: null });
  const outcomes = new Set<string>();
  const failing: { crashAt: number; report: Report }[] = [];
  for (let crashAt = 1; crashAt <= calm.points; crashAt += 1) {
    const report = await run({ ...scenario, crashAt });
    outcomes.add(report.results.at(-1)?.outcome ?? 'open');
    if (report.violations.length > 0 || report.crashes !== 1) failing.push({ crashAt, report });
  }
  return { runs: calm.points, outcomes, failing };
}
