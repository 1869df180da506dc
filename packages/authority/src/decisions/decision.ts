import { catalogue, type Digest, type Moment, type Refusal } from '@idunn/kernel';
import type { IncidentCode } from '../model/incident-code.ts';
import type { BackPhase, OutcomeName, Phase } from '../model/phase.ts';
import type { KindName, RecordOf } from '../records/kinds.ts';
import type { TargetRecord } from '../records/target.ts';
import type { DeployState, ResultRecord } from '../records/transaction.ts';
import { type AnswerTo, type Effect, type EffectKind, type EffectOf, effectKey } from './effects.ts';
import { answerTo, answerUnder, type DeployEvidence } from './evidence.ts';

/** One line of the transaction's log. `atMs` when it was reached before it could be recorded. */
export interface Entered {
  readonly phase: Phase | BackPhase;
  readonly note?: string;
  readonly atMs?: number;
}

type Content = 'plan' | 'incarnation' | 'activation' | 'takeover' | 'set-aside' | 'ready-proof';

/** Content, proofs and consents that change with the step; never the records that the engine itself keeps. */
export type ExtraWrite =
  | { [K in Content]: { readonly kind: K; readonly id: string; readonly value: RecordOf<K> } }[Content]
  | { readonly kind: KindName; readonly id: string; readonly value: null };

/** One compare-and-swap: the next state and everything that becomes durable with it (I6). */
export interface Persist {
  readonly kind: 'persist';
  readonly state: DeployState;
  readonly entered: readonly Entered[];
  readonly target?: Partial<TargetRecord>;
  readonly extra?: readonly ExtraWrite[];
  readonly freeze?: { readonly phase: Phase; readonly record: Digest | null; readonly admittedAt: Moment | null };
  /** `keep` unless said: a phase's clock runs on, stops for a freeze, goes on after it, or begins anew. */
  readonly clock?: 'restart' | 'freeze' | 'thaw';
  readonly foreignMs?: number;
  readonly result?: Pick<ResultRecord, 'outcome' | 'refusal' | 'incarnation' | 'revision'> &
    Partial<Pick<ResultRecord, 'writeGapMs' | 'requests'>>;
  /** Leaves the queue; `detach` goes on in the draining lane. */
  readonly leaves?: 'detach' | 'end';
}

export interface Act {
  readonly kind: 'act';
  readonly effect: Effect;
  /** Effects that need not wait for it, nor it for them. */
  readonly beside?: readonly Effect[];
}

/** A wait names what it waits on and what ends it; there is no silent one (F2). */
export interface Wait {
  readonly kind: 'wait';
  readonly what: string;
  readonly remedy: string;
  /** Monotonic milliseconds of the deadline, `null` when only the remedy ends it. */
  readonly untilMs: number | null;
  /** Monotonic milliseconds of the next look; events look earlier. */
  readonly wakeAtMs: number | null;
  /** What a person should look at while this is waited for; it closes with the wait. */
  readonly incident?: IncidentCode;
}

/** The whole vocabulary of a decision. `reached`: the furthest phase of a handover that is seen to hold. */
export type Decision = (Persist | Act | Wait) & { readonly reached?: Phase };

export const act = (effect: Effect): Act => ({ kind: 'act', effect });

export const wait = (
  what: string,
  remedy: string,
  more: { untilMs?: number | null; wakeAtMs?: number | null; incident?: IncidentCode | undefined } = {},
): Wait => ({
  kind: 'wait',
  what,
  remedy,
  untilMs: more.untilMs ?? null,
  wakeAtMs: more.wakeAtMs ?? null,
  ...(more.incident === undefined ? {} : { incident: more.incident }),
});

/** Moves to a phase, or stays in it with more known. */
export const persist = (state: DeployState, more: Omit<Persist, 'kind' | 'state' | 'entered'> = {}): Persist => ({
  kind: 'persist',
  state,
  entered: [],
  ...more,
});

export function enter(state: DeployState, more: Omit<Persist, 'kind' | 'state'> | { note?: string } = {}): Persist {
  const note = 'note' in more ? more.note : undefined;
  const phase = state.phase;
  if (phase === 'queued') throw new Error('nothing enters the queue twice');
  const own: Entered = note === undefined ? { phase } : { phase, note };
  return { kind: 'persist', state, entered: [own], clock: 'restart', ...('note' in more ? {} : more) };
}

export const conclude = (
  state: DeployState,
  outcome: OutcomeName,
  about: { incarnation: ResultRecord['incarnation']; revision: string | null; refusal: Refusal | null },
  more: Partial<Omit<Persist, 'kind' | 'state' | 'result'>> = {},
): Persist => ({ kind: 'persist', state, entered: [], leaves: 'end', ...more, result: { outcome, ...about } });

/** Wait before the same effect is tried again: doubling from 20 ms, at most 2 s. */
export const retryDelayMs = (attempts: number): number => Math.min(20 * 2 ** Math.min(attempts - 1, 10), 2_000);

export interface Attempt {
  readonly what: string;
  readonly untilMs: number | null;
  /** For work of minutes: any refusal of its own is told at once, only a driver's fault is tried again. */
  readonly impatient?: boolean;
  /** Called for a refusal that the same request cannot outlive. */
  readonly failed: (refusal: Refusal) => Decision;
}

/** Acts once, takes a good answer on, repeats after a passing refusal, and gives a final one to the caller. */
export function attempt<K extends EffectKind>(
  e: DeployEvidence,
  effect: EffectOf<K>,
  options: Attempt,
  then: (value: AnswerTo<K>) => Decision,
): Decision {
  const key = effectKey(effect as Effect);
  if (e.running.includes(key)) return wait(options.what, 'it ends by itself', { untilMs: options.untilMs });
  const answered = answerUnder<K>(e, key);
  if (answered === undefined) return act(effect as Effect);
  if (answered.outcome.ok) return then(answered.outcome.value);
  const { refusal } = answered.outcome;
  const ownWord = options.impatient === true && refusal.code !== 'driver-fault';
  if (ownWord || catalogue[refusal.code].retry === 'final') return options.failed(refusal);
  const dueMs = answered.atMs + retryDelayMs(answered.attempts);
  if (e.now.monotonicMs >= dueMs) return act(effect as Effect);
  return wait(`${options.what}: ${refusal.reason}`, refusal.remedy, { untilMs: options.untilMs, wakeAtMs: dueMs });
}

/** How long the same question or deed waits for its next time, and what a person can do meanwhile. */
export interface Persistence {
  readonly what: string;
  readonly remedy: string;
  readonly untilMs: number | null;
}

/** The same once more, after a moment. */
export function repeat<K extends EffectKind>(
  e: DeployEvidence,
  effect: EffectOf<K>,
  { what, remedy, untilMs }: Persistence,
): Decision {
  const last = answerTo(e, effect);
  const dueMs = last === undefined ? e.now.monotonicMs : last.atMs + retryDelayMs(last.attempts);
  return e.now.monotonicMs >= dueMs ? act(effect as Effect) : wait(what, remedy, { untilMs, wakeAtMs: dueMs });
}

/** For steps to which there is no other way: also what is refused for good is asked again, for as long as it takes. */
export const insist = <K extends EffectKind>(
  e: DeployEvidence,
  effect: EffectOf<K>,
  persistence: Persistence,
  then: (value: AnswerTo<K>) => Decision,
): Decision =>
  attempt(
    e,
    effect,
    {
      ...persistence,
      failed: ({ reason, remedy }) =>
        repeat(e, effect, { ...persistence, what: `${persistence.what}: ${reason}`, remedy }),
    },
    then,
  );

/** For steps whose failure must not hold anything up: tried a few times, then passed over with what came of it. */
export const TOLERATED_ATTEMPTS = 5;

export function tolerate<K extends EffectKind>(
  e: DeployEvidence,
  effect: EffectOf<K>,
  options: { what: string; attempts?: number },
  then: (value: AnswerTo<K> | null) => Decision,
): Decision {
  const answered = answerTo(e, effect);
  if (answered?.outcome.ok === false && answered.attempts >= (options.attempts ?? TOLERATED_ATTEMPTS))
    return then(null);
  return attempt(e, effect, { what: options.what, untilMs: null, failed: () => then(null) }, then);
}

/** One of several things to do; it calls `ended` when it is done. */
export type Strand = (ended: () => Decision) => Decision;

/**
 * Strands that need not wait for one another: what they ask for is done side by side, and `then` follows when every one
 * has ended. A strand that changes the state, such as by giving up, goes before all others.
 */
export function together(strands: readonly Strand[], then: () => Decision): Decision {
  const over = wait('nothing', 'nothing');
  const open = strands.map((strand) => strand(() => over)).filter((decision) => decision !== over);
  const changing = open.find((decision) => decision.kind === 'persist');
  if (changing !== undefined) return changing;
  const [effect, ...beside] = open.flatMap((decision) =>
    decision.kind === 'act' ? [decision.effect, ...(decision.beside ?? [])] : [],
  );
  if (effect !== undefined) return beside.length === 0 ? act(effect) : { kind: 'act', effect, beside };
  const waits = open.filter((decision) => decision.kind === 'wait');
  const [first] = waits;
  return first === undefined ? then() : { ...first, wakeAtMs: earliest(waits.map(({ wakeAtMs }) => wakeAtMs)) };
}

export function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((atMs) => atMs !== null);
  return known.length === 0 ? null : Math.min(...known);
}
