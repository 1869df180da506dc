import type { Report } from './run.ts';

/** How often something was, by its name. */
type Counts = Readonly<Record<string, number>>;

/** What came of the scenarios of some seeds. */
export interface Tally {
  readonly seeds: number;
  readonly crashes: number;
  readonly acked: number;
  /** Transactions that were begun, by kind. */
  readonly transactions: Counts;
  /** What came of the deployments; `open`: they never ended. */
  readonly outcomes: Counts;
  readonly faults: Counts;
  /** How often a transaction entered each phase. */
  readonly phases: Counts;
}

export const NOTHING: Tally = {
  seeds: 0,
  crashes: 0,
  acked: 0,
  transactions: {},
  outcomes: {},
  faults: {},
  phases: {},
};

export const tallyOf = ({ crashes, acked, results, world, befell, transactions }: Report): Tally => ({
  seeds: 1,
  crashes,
  acked,
  transactions: counted(transactions),
  outcomes: counted(results.map((result) => result?.outcome ?? 'open')),
  faults: counted(befell),
  phases: counted(world.ledger.of('told-phase').map(({ phase }) => phase)),
});

export const together = (a: Tally, b: Tally): Tally => ({
  seeds: a.seeds + b.seeds,
  crashes: a.crashes + b.crashes,
  acked: a.acked + b.acked,
  transactions: summed(a.transactions, b.transactions),
  outcomes: summed(a.outcomes, b.outcomes),
  faults: summed(a.faults, b.faults),
  phases: summed(a.phases, b.phases),
});

export const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

function counted(names: readonly string[]): Counts {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function summed(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
