/** What a proof measured. It is printed as one JSON line, last. */
export interface Figures {
  readonly [name: string]:
    | number
    | string
    | boolean
    | null
    | Spread
    | readonly string[]
    | Readonly<Record<string, number>>;
}

/** Median, 99th percentile and maximum, in the unit that the field's name ends with. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** One thing that must hold. Too little happened is a broken promise too. */
export interface Claim {
  readonly holds: boolean;
  readonly says: string;
}

export interface ProofRun {
  /** Ends within 50 s and does less. */
  readonly quick: boolean;
  /** Tells the person what is going on; not part of the result. */
  readonly note: (text: string) => void;
}

export interface Proof {
  readonly name: string;
  /** The promise in one sentence. */
  readonly promise: string;
  run(options: ProofRun): Promise<{ readonly figures: Figures; readonly claims: readonly Claim[] }>;
}

export const claim = (says: string, holds: boolean): Claim => ({ says, holds });

/** Nearest-rank percentiles, rounded to a hundredth; all zero for no samples. */
export function spread(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = (share: number) => round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0);
  return { p50: rank(0.5), p99: rank(0.99), max: rank(1) };
}

export const round = (value: number): number => Math.round(value * 100) / 100;
