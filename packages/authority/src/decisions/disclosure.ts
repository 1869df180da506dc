import { type Evidence, seen, unknown } from '@idunn/kernel';
import type { IncarnationKey } from '@idunn/readiness';
import type { Correlation } from '../ports/observer-port.ts';

/** One admitted incarnation that runs, and what the observer has said of it on the link at hand. */
export interface Standing {
  readonly incarnation: IncarnationKey;
  readonly activation: string;
  /** Unknown until it is judged anew, whatever was said on an earlier link (I10). */
  readonly verdict: Evidence<'agreed' | 'disagreed'>;
  /** Until when a verdict that is unknown holds anything up, monotonic milliseconds. */
  readonly untilMs: number;
}

/** The longest wait for a verdict: a program that lives looks for the observer every five seconds at least. */
export const VERDICT_LIMIT_MS = 30_000;

/** A presence stands for so long; one that does not come for so long is missing. Frozen in the plan. */
export const verdictUntilMs = (linkedAtMs: number, { freshnessMs }: { readonly freshnessMs: number }): number =>
  linkedAtMs + Math.min(freshnessMs, VERDICT_LIMIT_MS);

/** Only a word about exactly this activation, with a presence beside it, is a verdict (I4, I5). */
export function verdictOf(word: Evidence<Correlation>, activation: string): Standing['verdict'] {
  if (word.kind === 'unknown') return word;
  if (word.kind === 'absent') return unknown('the observer was not told of it yet');
  const { value: said } = word;
  if (said.activation !== activation || said.present === null) return unknown('the observer has not heard it yet');
  return seen(said.disagreements.length > 0 ? 'disagreed' : 'agreed');
}

export interface Disclosure {
  /** What is waited for before the graph changes. */
  readonly awaited: readonly Standing[];
  /** What did not come in time: it is shown as missing, and holds nothing up any more. */
  readonly missing: readonly Standing[];
}

/** What is still to be shown of what stands, since the observer's link came up. Pure. */
export function decideDisclosure(nowMs: number, standing: readonly Standing[]): Disclosure {
  const unjudged = standing.filter(({ verdict }) => verdict.kind !== 'seen');
  return {
    awaited: unjudged.filter(({ untilMs }) => nowMs < untilMs),
    missing: unjudged.filter(({ untilMs }) => nowMs >= untilMs),
  };
}
