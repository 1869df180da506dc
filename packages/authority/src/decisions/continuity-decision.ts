import type { IncidentCode } from '../model/incident-code.ts';
import type { ContinuityRecord } from '../records/continuity.ts';
import type { ActivationRecord } from '../records/operation.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { Effect } from './effects.ts';

/** Something about a target that a person should look at; it closes with its cause. */
export interface Concern {
  readonly code: IncidentCode;
  readonly detail: string;
}

/** A restart as it becomes durable: its transaction, the activation that it issued, and the target that it takes. */
export interface Begin {
  readonly transaction: TransactionRecord;
  /** `null`: what it leads on was issued before. */
  readonly activation: ActivationRecord | null;
  readonly target: Partial<TargetRecord>;
}

export type ContinuityDecision =
  | { readonly kind: 'act'; readonly effect: Effect }
  /** Continuity's own record, and the restart that begins with it: one compare-and-swap. */
  | { readonly kind: 'persist'; readonly record: ContinuityRecord; readonly begin: Begin | null }
  | { readonly kind: 'look'; readonly at: 'process' | 'hold' | 'rows' | 'projected' | 'route' }
  | {
      readonly kind: 'rest';
      readonly concerns: readonly Concern[];
      /** What is waited for before the next attempt; `null` while nothing is amiss. */
      readonly wait: { readonly what: string; readonly remedy: string } | null;
      /** Monotonic milliseconds of the next look; events look earlier. */
      readonly wakeAtMs: number | null;
      /** When the next attempt is due, monotonic milliseconds. */
      readonly attemptAtMs: number | null;
    };

export type Rest = Extract<ContinuityDecision, { kind: 'rest' }>;

export const rest = (more: Partial<Omit<Rest, 'kind'>> = {}): Rest => ({
  kind: 'rest',
  concerns: [],
  wait: null,
  wakeAtMs: null,
  attemptAtMs: null,
  ...more,
});
