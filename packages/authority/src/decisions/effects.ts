import type { Digest, Json, Outcome } from '@idunn/kernel';
import type { Activation, IncarnationKey, ObservedRuntime } from '@idunn/readiness';
import type { Plan, SealedRelease } from '@idunn/release';
import type { Grant, RelinquishAnswer } from '../ports/channel-port.ts';
import type { LeaseRows, OwnerClaim, SwapAnswer } from '../ports/lease-port.ts';
import type { Correlation } from '../ports/observer-port.ts';
import type { RouteMember, RouteState, Staged } from '../ports/route-port.ts';
import type { Exit, StopAnswer, WorkloadHandle } from '../ports/workload-port.ts';
import type { Subject } from '../records/body.ts';
import type { Move } from '../records/passage.ts';

/** The last words of a process, gathered before it is cleared away (F5, F7). */
export interface Autopsy {
  /** `null` where it is not known, or the process lives. */
  readonly exit: Exit | null;
  readonly log: readonly string[];
  readonly presence: Json;
  /** The last reading of its probe; `null` where it speaks for itself. */
  readonly reading: Json;
}

export interface SwitchReport {
  readonly held: number;
  readonly failed: number;
  readonly longestHoldMs: number;
}

/** What the re-reading before `fence-cleared` saw; `null` where there is no such authority. */
export interface Confirmation {
  readonly rows: LeaseRows | null;
  readonly route: RouteState | null;
  readonly report: SwitchReport | null;
}

/** Every effect that a decision may ask for, and what it answers. Each is safe to repeat. */
export interface EffectShapes {
  plan: { asks: { ref: string | null }; answers: { plan: Plan; fetchMs: number } };
  materialize: { asks: { plan: Digest }; answers: { stage: Digest; fetchMs: number } };
  seal: { asks: { plan: Digest }; answers: { release: SealedRelease; stepsMs: number } };
  /** `tookMs`: the copy, the program's own start and its probe; no time of ours. */
  rehearse: { asks: { subject: Subject }; answers: { tookMs: number } };
  'publish-expected': { asks: { subject: Subject }; answers: 'acknowledged' };
  'prepare-lease': { asks: { plan: Digest }; answers: LeaseRows };
  mint: { asks: { subject: Subject; activation: string }; answers: Activation };
  start: { asks: { subject: Subject; document: Activation }; answers: WorkloadHandle };
  /** What the process is now; `null` when exactly this one is gone. */
  'observe-process': { asks: { handle: WorkloadHandle; release: Digest }; answers: ObservedRuntime | null };
  'publish-activation': { asks: { document: Activation; observed: ObservedRuntime }; answers: 'acknowledged' };
  'open-channel': { asks: { handle: WorkloadHandle }; answers: 'open' };
  'stage-route': { asks: { plan: Digest; members: readonly RouteMember[] }; answers: Staged };
  /** `over`: the claim that was read, on which this one rests. */
  'write-claim': { asks: { plan: Digest; claim: OwnerClaim; over: OwnerClaim | null }; answers: 'written' };
  /** `readers`: activations that run already and will be asked for it. */
  'write-nonce': { asks: { plan: Digest; nonce: string; readers: readonly string[] }; answers: 'written' };
  /** Answers whether every store's nonce came back. */
  echo: { asks: { plan: Digest; activation: string; nonce: string }; answers: boolean };
  'end-process': { asks: { activation: string; handle: WorkloadHandle | null; graceMs: number }; answers: StopAnswer };
  'hold-route': { asks: { route: string; termMs: number }; answers: 'held' };
  'release-route': { asks: { route: string }; answers: 'released' };
  /** Requests that are open towards a member now; `null` when the proxy could not say. */
  'in-flight': { asks: { route: string; incarnation: IncarnationKey }; answers: number | null };
  relinquish: {
    asks: { activation: string; requestId: string; epoch: number; termMs: number; withinMs: number };
    answers: RelinquishAnswer;
  };
  withdraw: { asks: { activation: string; requestId: string }; answers: 'withdrawn' };
  swap: {
    asks: { plan: Digest; move: Move; release: Digest | null; stateSchema: string; deadlineMs: number };
    answers: SwapAnswer;
  };
  grant: { asks: { grant: Grant }; answers: 'delivered' };
  'publish-route': { asks: { staged: Staged }; answers: 'published' };
  'observe-route': {
    asks: { route: string; path: string | null };
    answers: { incarnation: IncarnationKey | null; status: number | null; body: string | null };
  };
  confirm: { asks: { plan: Digest; activation: string }; answers: Confirmation };
  'open-requests': {
    asks: { route: string; incarnation: IncarnationKey; withinMs: number };
    answers: number | null;
  };
  demote: { asks: { incarnation: IncarnationKey; activation: string }; answers: 'acknowledged' };
  'withdraw-expected': { asks: { incarnation: IncarnationKey }; answers: 'acknowledged' };
  retire: { asks: { activation: string }; answers: 'retired' };
  autopsy: { asks: { activation: string; word: Correlation | null }; answers: Autopsy };
}

export type EffectKind = keyof EffectShapes;
export type EffectOf<K extends EffectKind> = { readonly kind: K } & EffectShapes[K]['asks'];
export type Effect = { [K in EffectKind]: EffectOf<K> }[EffectKind];
export type AnswerTo<K extends EffectKind> = EffectShapes[K]['answers'];

/**
 * The newest answer to one exact effect. Memory of this engine process only: a crash forgets it, the world does not.
 */
export interface Answered {
  readonly effect: Effect;
  readonly outcome: Outcome<unknown>;
  /** Monotonic milliseconds. */
  readonly atMs: number;
  readonly attempts: number;
}

const OVERTAKEN: ReadonlySet<EffectKind> = new Set(['plan', 'materialize', 'seal', 'rehearse', 'open-channel']);

/** Decisions go on while it runs: work of minutes, or a program that does not listen yet. Each leaves no trace. */
export const isLong = (kind: EffectKind): boolean => OVERTAKEN.has(kind);

/** Names the exact effect, so that the answer to another activation or epoch is never taken for this one's (I5). */
export function effectKey(effect: Effect): string {
  switch (effect.kind) {
    case 'plan':
    case 'materialize':
    case 'seal':
    case 'rehearse':
    case 'prepare-lease':
    case 'release-route':
    case 'hold-route':
    case 'observe-route':
      return effect.kind;
    case 'publish-expected':
      return `${effect.kind} ${effect.subject.incarnation}`;
    case 'mint':
      return `${effect.kind} ${effect.activation}`;
    case 'start':
      return `${effect.kind} ${effect.document.activation}`;
    case 'publish-activation':
      return publicationKey(effect.document.activation, effect.observed);
    case 'observe-process':
    case 'open-channel':
      return `${effect.kind} ${effect.handle.activation}`;
    case 'stage-route':
      return `${effect.kind} ${effect.members.map(({ activation }) => activation).join(' ')}`;
    case 'write-nonce':
      return nonceKey(effect.readers);
    case 'write-claim':
      return `${effect.kind} ${effect.claim.highestEpoch}`;
    case 'echo':
      return `${effect.kind} ${effect.activation} ${effect.nonce}`;
    case 'relinquish':
    case 'withdraw':
      return `${effect.kind} ${effect.activation} ${effect.requestId}`;
    case 'swap':
      return `${effect.kind} ${effect.move.to.epoch} ${effect.move.to.activation ?? '-'}`;
    case 'grant':
      return `${effect.kind} ${effect.grant.activation} ${effect.grant.epoch}`;
    case 'publish-route':
      return `${effect.kind} ${effect.staged.stage}`;
    case 'open-requests':
    case 'in-flight':
    case 'withdraw-expected':
      return `${effect.kind} ${effect.incarnation}`;
    case 'confirm':
    case 'end-process':
    case 'demote':
    case 'retire':
    case 'autopsy':
      return `${effect.kind} ${effect.activation}`;
  }
}

export const nonceKey = (readers: readonly string[]): string => `write-nonce ${readers.join(' ')}`;

/** A launcher at its gate and the program that it becomes are published one after the other. */
export const publicationKey = (activation: string, observed: Pick<ObservedRuntime, 'gate'>): string =>
  `publish-activation ${activation}${observed.gate === 'waiting' ? ' at its gate' : ''}`;
