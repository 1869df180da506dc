import { type Evidence, unknown } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { Plan } from '@idunn/release';
import type { Freeze } from '../ports/freeze-port.ts';
import type { LeaseRows } from '../ports/lease-port.ts';
import type { RouteState } from '../ports/route-port.ts';
import type { Body } from '../records/body.ts';
import type { ContinuityRecord } from '../records/continuity.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { DeployEvidence, Slot } from './evidence.ts';

/** Everything that continuity may know of one target when it decides. */
export interface ContinuityEvidence extends Pick<DeployEvidence, 'now' | 'answers' | 'running' | 'holder'> {
  /** Identifiers that nobody has used. */
  readonly fresh: { readonly activation: string; readonly transaction: string };
  readonly target: TargetRecord;
  readonly record: ContinuityRecord;
  /** The plan of the body on duty. */
  readonly plan: Plan;
  /** The deployment at the head of the queue. */
  readonly head: TransactionRecord | null;
  readonly process: Evidence<ObservedRuntime>;
  readonly presence: Slot['presence'];
  readonly word: Slot['word'];
  /** Read only when a restart stands at its door. */
  readonly hold: Evidence<Freeze>;
  /** The rows of the body on duty, read once while nothing else is at work, with who stands behind them. */
  readonly rows: Evidence<LeaseRows>;
  /** Read only while somebody is stranded and lives. */
  readonly route: Evidence<RouteState>;
  /** Whether what is projected is a launch of this target; read only when it is none that the record names. */
  readonly projected: { readonly activation: string; readonly issued: boolean } | null;
  /**
   * Since and until when the process was listened to, monotonic milliseconds: silence before that and after it says
   * nothing.
   */
  readonly listened: { readonly sinceMs: number; readonly untilMs: number };
}

export const NOT_LOOKED = unknown('not read');

/** Whom continuity keeps alive: who holds the lease without an admission, else what is admitted. */
export const onDuty = ({ stranded, admitted }: TargetRecord): Body | null => stranded ?? admitted;
