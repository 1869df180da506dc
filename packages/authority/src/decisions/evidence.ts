import { type Digest, type Evidence, type Moment, type Outcome, unknown } from '@idunn/kernel';
import type { Expected, ObservedRuntime, Presence } from '@idunn/readiness';
import type { Plan, SealedRelease } from '@idunn/release';
import type { Freeze } from '../ports/freeze-port.ts';
import type { LeaseRows, OwnerClaim } from '../ports/lease-port.ts';
import type { Correlation } from '../ports/observer-port.ts';
import type { RouteState } from '../ports/route-port.ts';
import type { RunningLaunch, WorkloadHandle } from '../ports/workload-port.ts';
import type { TakeoverRecord } from '../records/operation.ts';
import type { TargetRecord } from '../records/target.ts';
import type { Standing } from './disclosure.ts';
import { type Answered, type AnswerTo, type Effect, type EffectKind, type EffectOf, effectKey } from './effects.ts';

/** What was read about one activation. What was not read this time is unknown, never absent (I10). */
export interface Slot {
  readonly found: Evidence<WorkloadHandle>;
  readonly process: Evidence<ObservedRuntime>;
  /** Its signed word on the lease connection: for leases and health, never Ready. */
  readonly presence: Evidence<{ readonly presence: Presence; readonly ageMs: number }>;
  /** What the observer signed about its incarnation. */
  readonly word: Evidence<Correlation>;
}

/** Marks of the handover at hand, in this process's memory only. */
export interface Marks {
  /** When each phase of the handover was first seen to hold, monotonic milliseconds. */
  readonly reached: Readonly<Record<string, number>>;
  /** Activation to CLOCK_MONOTONIC of its first write, with the epoch that it signed. */
  readonly firstWrites: Readonly<Record<string, { readonly epoch: number; readonly atMs: number }>>;
  /** Activation to the Ready receipt that the observer last said it has. */
  readonly receipts: Readonly<Record<string, NonNullable<Correlation['ready']>>>;
}

/** Everything that a decision may know. Serializable, so that the same step can be explored and replayed. */
export interface DeployEvidence {
  readonly now: Moment;
  /** Identifiers that nobody has used; a decision that persists one makes it real. */
  readonly fresh: { readonly activation: string; readonly nonce: string; readonly request: string };
  readonly target: TargetRecord;
  readonly plans: Readonly<Record<Digest, Plan>>;
  readonly incarnations: Readonly<Record<string, { readonly expected: Expected; readonly release: SealedRelease }>>;
  readonly answers: Readonly<Record<string, Answered>>;
  readonly marks: Marks;
  /** Keys of the effects that still run. */
  readonly running: readonly string[];
  readonly slots: Readonly<Record<string, Slot>>;
  readonly freeze: Evidence<Freeze>;
  /** What suspends restarts; read for those only. */
  readonly hold: Evidence<Freeze>;
  /** The observer's target admitted and its link not known to be down. */
  readonly observer: Evidence<'up'>;
  /** What stands in the fleet and the observer has not judged since its link came up. */
  readonly standing: readonly Standing[];
  readonly claim: Evidence<OwnerClaim>;
  readonly consent: TakeoverRecord | null;
  readonly rows: Evidence<LeaseRows>;
  /** The process behind a row that names neither incumbent nor candidate; `issued`: we minted it once. */
  readonly holder: { readonly issued: boolean; readonly found: Evidence<WorkloadHandle> };
  readonly route: Evidence<RouteState>;
  /** What may run of the target beside the processes at hand; read before a launch of what cannot overlap. */
  readonly others: Evidence<readonly RunningLaunch[]>;
}

const notRead = unknown('not read');
export const UNREAD_SLOT: Slot = { found: notRead, process: notRead, presence: notRead, word: notRead };

export const slotOf = (e: DeployEvidence, activation: string): Slot => e.slots[activation] ?? UNREAD_SLOT;

type AnswerOf<K extends EffectKind> = Omit<Answered, 'outcome'> & { readonly outcome: Outcome<AnswerTo<K>> };

/** The answer to exactly this effect, if this engine process has one. */
export const answerTo = <K extends EffectKind>(
  e: Pick<DeployEvidence, 'answers'>,
  effect: EffectOf<K>,
): AnswerOf<K> | undefined => answerUnder<K>(e, effectKey(effect as Effect));

/** The same by the effect's key. */
export const answerUnder = <K extends EffectKind>(
  e: Pick<DeployEvidence, 'answers'>,
  key: string,
): AnswerOf<K> | undefined => e.answers[key] as AnswerOf<K> | undefined;

export function planOf(e: DeployEvidence, digest: Digest): Plan {
  const plan = e.plans[digest];
  if (plan === undefined) throw new Error(`the plan ${digest} was not loaded`);
  return plan;
}

export function incarnationOf(e: DeployEvidence, key: string): { expected: Expected; release: SealedRelease } {
  const incarnation = e.incarnations[key];
  if (incarnation === undefined) throw new Error(`the incarnation ${key} was not loaded`);
  return incarnation;
}
