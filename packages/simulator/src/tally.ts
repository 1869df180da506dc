import { run } from './run.ts';
import { scenarioOf } from './scenario.ts';

/** What came of the scenarios of some seeds. */
export interface Tally {
  readonly transactions: number;
  readonly crashes: number;
  readonly acked: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly failing: readonly { readonly seed: number; readonly told: readonly string[] }[];
}

/** Violations of one seed that are told. */
const TOLD_LIMIT = 5;

/** Runs every `stride`-th seed from `from` on, `seeds` in all counted without the stride, and judges each. */
export async function tally({
  from,
  seeds,
  stride = 1,
}: {
  readonly from: number;
  readonly seeds: number;
  readonly stride?: number;
}): Promise<Tally> {
  const outcomes: Record<string, number> = {};
  const failing: { seed: number; told: string[] }[] = [];
  let transactions = 0;
  let crashes = 0;
  let acked = 0;
  for (let seed = from; seed < from + seeds; seed += stride) {
    const report = await run(scenarioOf(seed));
    transactions += report.results.length;
    crashes += report.crashes;
    acked += report.acked;
    for (const result of report.results) {
      const outcome = result?.outcome ?? 'open';
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    if (report.violations.length === 0) continue;
    const told = report.violations.slice(0, TOLD_LIMIT).map(({ of, atMs, detail }) => `${of} at ${atMs} ms: ${detail}`);
    failing.push({ seed, told });
  }
  return { transactions, crashes, acked, outcomes, failing };
}

export function together(tallies: readonly Tally[]): Tally {
  const sum = (of: (one: Tally) => number): number => tallies.reduce((total, one) => total + of(one), 0);
  const names = [...new Set(tallies.flatMap(({ outcomes }) => Object.keys(outcomes)))].sort();
  return {
    transactions: sum((one) => one.transactions),
    crashes: sum((one) => one.crashes),
    acked: sum((one) => one.acked),
    outcomes: Object.fromEntries(names.map((name) => [name, sum(({ outcomes }) => outcomes[name] ?? 0)])),
    failing: tallies.flatMap(({ failing }) => failing).sort((a, b) => a.seed - b.seed),
  };
}
