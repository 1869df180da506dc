import type { PresenceState } from '@idunn/workload/attending';

export interface Thresholds {
  /** Good readings in a row that are a verdict. */
  readonly successes: number;
  /** Bad readings in a row that are a verdict. */
  readonly failures: number;
}

/** What the readings so far come to; `unproven` until the first verdict. */
export type Verdict = 'unproven' | 'good' | 'bad';

export interface Health {
  readonly verdict: Verdict;
  /** The newest readings of one kind in a row; `null` before the first. */
  readonly run: { readonly good: boolean; readonly count: number } | null;
}

export const healthOf = (verdict: Verdict): Health => ({ verdict, run: null });

/**
 * One reading more. A verdict changes only by as many readings of one kind in a row as the contract says (F11); a
 * program that was never good is not `bad`, it is still starting.
 */
export function judge(health: Health, good: boolean, { successes, failures }: Thresholds): Health {
  const count = health.run?.good === good ? health.run.count + 1 : 1;
  const run = { good, count };
  if (good) return { verdict: count >= successes ? 'good' : health.verdict, run };
  return { verdict: count >= failures && health.verdict === 'good' ? 'bad' : health.verdict, run };
}

/** What bears on a program's state beside its health. */
export interface Standing {
  readonly stateful: boolean;
  /** The granted epoch; `null` before the grant, and for ever without state. */
  readonly epoch: number | null;
}

/**
 * What is signed for the program; `null`: nothing yet. A program without state is silent until it is proven, because
 * its `warming` would say that it may take the traffic over (I7). One with state waits in its launcher: it warms from
 * the begin, and is active only under its grant.
 */
export function stateOf(health: Health, { stateful, epoch }: Standing): PresenceState | null {
  if (stateful && epoch === null) return 'warming';
  switch (health.verdict) {
    case 'unproven':
      return stateful ? 'warming' : null;
    case 'good':
      return 'active';
    case 'bad':
      return 'degraded';
  }
}
