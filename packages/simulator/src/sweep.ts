import { type Report, run } from './run.ts';
import type { Misfortune, Scenario } from './scenario.ts';
import type { FaultName } from './strikes.ts';

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

/** What came of one misfortune: in which phase it struck, and how the last command ended. */
export interface Struck {
  readonly at: number;
  readonly phase: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly violations: Report['violations'];
}

/** Runs a scenario once for each crash point of its last command, or every so many, with the same misfortune there. */
export async function misfortunes(scenario: Scenario, what: Misfortune, every = 1): Promise<readonly Struck[]> {
  const calm = await run(scenario);
  const struck: Struck[] = [];
  for (let at = (calm.begun.at(-1) ?? 0) + 1; at <= calm.points; at += every) {
    const { struckIn, results, violations } = await run({ ...scenario, misfortune: { at, what } });
    const result = results.at(-1);
    struck.push({
      at,
      phase: struckIn ?? 'none',
      outcome: result?.outcome ?? 'open',
      code: result?.refusal?.code ?? null,
      violations,
    });
  }
  return struck;
}

/** What came of a scenario in which one answer, reading or write met a fault behind a crash point. */
export interface Met {
  readonly at: number;
  readonly outcome: string;
  readonly violations: Report['violations'];
}

/** Runs a scenario once for each crash point, or every so many: what comes next and can meets the fault. */
export async function meeting(scenario: Scenario, fault: FaultName, every = 1): Promise<readonly Met[]> {
  const calm = await run(scenario);
  const met: Met[] = [];
  for (let at = 1; at <= calm.points; at += every) {
    const { results, violations } = await run({ ...scenario, meets: { at, fault } });
    met.push({ at, outcome: results.at(-1)?.outcome ?? 'open', violations });
  }
  return met;
}
