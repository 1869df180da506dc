import { catalogue, type Moment, type Refusal } from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import { type Body, type Launch, subjectOf } from '../records/body.ts';
import { CHARGED_LIMIT, type ContinuityRecord, ISSUED_LIMIT } from '../records/continuity.ts';
import { newTransaction, type TransactionRecord } from '../records/transaction.ts';
import { type Begin, type Concern, type ContinuityDecision, rest } from './continuity-decision.ts';
import { type ContinuityEvidence, NOT_LOOKED } from './continuity-evidence.ts';
import { mintOf, spareBeside, spareFor, spareHolds } from './continuity-spare.ts';
import { LOOK_AGAIN_MS } from './deadline.ts';
import { retryDelayMs, TOLERATED_ATTEMPTS } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo } from './evidence.ts';
import { stopNote } from './freeze.ts';
import { issuedBy } from './launch.ts';
import { setAsideBy, strangerHolds } from './lease-at-hand.ts';
import { standsAlone } from './manner.ts';
import { readRows } from './rows.ts';

/** Wait before the second attempt; each further one waits twice as long, up to the cap. */
export const RESTART_BASE_MS = 5_000;
export const RESTART_CAP_MS = 300_000;
/** A run of this length forgives what was charged before it. */
export const LONG_RUN_MS = 600_000;
/** Charged attempts are counted over this span; `CHARGED_LIMIT` of them page. */
export const CHARGED_SPAN_MS = 3_600_000;

export type Cause = Extract<TransactionRecord['request'], { kind: 'continuity' }>['cause'];

export const restartDelayMs = (streak: number): number =>
  streak === 0 ? 0 : Math.min(RESTART_BASE_MS * 2 ** Math.min(streak - 1, 16), RESTART_CAP_MS);

/** A span of another boot is unknown, and unknown is not long (F29). */
const sinceMs = (from: Moment, now: Moment): number | null =>
  from.bootId === now.bootId ? now.monotonicMs - from.monotonicMs : null;

/** Six charged attempts within an hour: somebody is told, and nothing else changes. */
export function tooOften({ record, now, target }: ContinuityEvidence): {
  readonly concerns: readonly Concern[];
  readonly wakeAtMs: number | null;
} {
  const spans = record.charged.map((at) => sinceMs(at, now));
  const recent = spans.filter((ms) => ms !== null && ms < CHARGED_SPAN_MS);
  const oldest = spans[0];
  if (recent.length < CHARGED_LIMIT || oldest === null || oldest === undefined) return { concerns: [], wakeAtMs: null };
  const detail = `${target.target} was restarted ${recent.length} times within an hour, and is restarted for ever`;
  return {
    concerns: [{ code: 'restarted-too-often', detail }],
    wakeAtMs: now.monotonicMs + CHARGED_SPAN_MS - oldest,
  };
}

/** The process is gone, or has failed by its own word: it is replaced by a new activation of the same release (I9). */
export const bringBack = (e: ContinuityEvidence, body: Body, cause: Cause, detail?: string): ContinuityDecision =>
  withTooOften(e, replace(e, body, cause, detail));

/** Whatever else is waited for, that it was restarted too often stays told. */
export const withTooOften = (e: ContinuityEvidence, decision: ContinuityDecision): ContinuityDecision =>
  decision.kind === 'rest' ? { ...decision, concerns: [...tooOften(e).concerns, ...decision.concerns] } : decision;

function replace(e: ContinuityEvidence, body: Body, cause: Cause, detail?: string): ContinuityDecision {
  if (e.hold === NOT_LOOKED) return { kind: 'look', at: 'hold' };
  const record = assess(e, body);
  const lost = `${body.document.activation} of ${body.incarnation} ${detail ?? 'is gone'}`;
  if (e.hold.kind !== 'absent') return held(e, record, lost);
  const free = cause === 'rebooted' && record.broughtBack !== admissionOf(e, body);
  const due = free ? null : restartDelayMs(record.streak);
  if (due !== null && due > 0) {
    const waitedMs = record.anchor === null ? null : sinceMs(record.anchor, e.now);
    if (waitedMs === null) return { kind: 'persist', record: { ...record, anchor: e.now }, begin: null };
    if (waitedMs < due) {
      if (e.plan.state !== null && e.rows === NOT_LOOKED) return { kind: 'look', at: 'rows' };
      return backOff(e, record, lost, e.now.monotonicMs + due - waitedMs);
    }
  }
  return ended(
    e,
    body,
    cause,
    () => spareHolds(e, lost) ?? demoted(e, body, record, lost, () => begin(e, body, record, cause, free)),
  );
}

/** A long run forgives, once, when it is found to be over. */
function assess(e: ContinuityEvidence, body: Body): ContinuityRecord {
  const { activation } = body.document;
  const { record } = e;
  if (record.assessed === activation) return record;
  const since = e.target.admitted?.document.activation === activation ? e.target.admitted.runningSince : null;
  const ranMs = since === null ? null : sinceMs(since, e.now);
  const long = ranMs !== null && ranMs >= LONG_RUN_MS;
  return { ...record, assessed: activation, anchor: null, ...(long ? { streak: 0, charged: [] } : {}) };
}

const admissionOf = (e: ContinuityEvidence, body: Body): string =>
  e.target.stranded === null && e.target.admitted !== null ? e.target.admitted.transaction : body.document.activation;

function held(e: ContinuityEvidence, record: ContinuityRecord, lost: string): ContinuityDecision {
  // When it was found dead is durable, so that a long hold is never taken for a long run.
  if (record !== e.record) return { kind: 'persist', record, begin: null };
  const { hold } = e;
  const what =
    hold.kind === 'seen'
      ? stopNote('hold', hold.value)
      : `a hold that cannot be read: ${hold.kind === 'unknown' ? hold.because : ''}`;
  const remedy = hold.kind === 'seen' ? hold.value.clearedBy : `idunn hold status ${e.target.target}`;
  return rest({
    concerns: [{ code: 'continuity-held', detail: `${lost}; restarts wait on ${what}` }],
    wait: { what, remedy },
    wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
  });
}

function backOff(e: ContinuityEvidence, record: ContinuityRecord, lost: string, dueMs: number): ContinuityDecision {
  const held = heldMeanwhile(e);
  const why = record.deferral === null ? '' : `; the observer did not demote it: ${record.deferral.reason}`;
  return rest({
    concerns: [...held, { code: 'admitted-process-lost', detail: `${lost}${why}` }],
    wait: {
      what: `the next restart, after ${record.streak} that did not last${why}`,
      remedy: `idunn restart ${e.target.target} starts it at once; idunn logs ${e.target.target} shows why it ended`,
    },
    wakeAtMs: held.length === 0 ? dueMs : Math.min(dueMs, e.now.monotonicMs + LOOK_AGAIN_MS),
    attemptAtMs: dueMs,
  });
}

/** What held the last attempt and will hold the next: it ends when the row does, not between the two (I9). */
function heldMeanwhile(e: ContinuityEvidence): readonly Concern[] {
  if (e.plan.state === null) return [];
  if (e.rows.kind !== 'seen') {
    const because = e.rows.kind === 'unknown' ? e.rows.because : 'the stores carry no row';
    return [{ code: 'lease-row-unreadable', detail: `The next restart will wait on the lease row: ${because}` }];
  }
  const reading = readRows(e.rows.value, null);
  const held = reading.kind === 'uniform' ? strangerHolds(e, reading.standing, false) : 'the stores, which differ';
  return held === null ? [] : [{ code: 'lease-row-unexpected', detail: `The next restart will wait on ${held}` }];
}

/** A process that failed by its own word is ended and seen gone before another one is started (F15). */
function ended(e: ContinuityEvidence, body: Body, cause: Cause, then: () => ContinuityDecision): ContinuityDecision {
  if (cause !== 'failed') return then();
  const { activation } = body.document;
  const effect: EffectOf<'end-process'> = {
    kind: 'end-process',
    activation,
    handle: body.handle,
    graceMs: e.plan.deadlines.stopMs,
  };
  const answered = answerTo(e, effect);
  if (answered === undefined) return { kind: 'act', effect };
  const answer = answered.outcome.ok ? answered.outcome.value.kind : 'unknown';
  if (answer !== 'unknown') return then();
  const dueMs = answered.atMs + retryDelayMs(answered.attempts);
  if (e.now.monotonicMs >= dueMs) return { kind: 'act', effect };
  return rest({
    concerns: [{ code: 'fence-not-proven', detail: `${activation} failed and was not seen to end` }],
    wait: { what: `every process of ${activation} to be gone`, remedy: 'idunn doctor' },
    wakeAtMs: dueMs,
  });
}

/**
 * Restarts only from an Expected-only projection: what is projected is demoted by its own name, if we issued it. An
 * observer that cannot be asked is no reason to leave the target dead; one that refuses defers the attempt.
 */
function demoted(
  e: ContinuityEvidence,
  body: Body,
  record: ContinuityRecord,
  lost: string,
  then: () => ContinuityDecision,
): ContinuityDecision {
  const projected = e.word.kind === 'seen' ? e.word.value.activation : null;
  if (projected === null) return then();
  const ours = [body.document.activation, ...record.issued, record.spare?.activation, ...(headOf(e) ?? [])];
  if (!ours.includes(projected) && e.projected?.activation !== projected) return { kind: 'look', at: 'projected' };
  if (!ours.includes(projected) && e.projected?.issued !== true) {
    const why = `${projected}, which none of its transactions issued, is projected`;
    return rest({
      concerns: [{ code: 'projection-foreign', detail: `${lost}; ${why}` }],
      wait: { what: `the projection: ${why}`, remedy: setAsideBy(e.target.target, projected) },
      wakeAtMs: e.now.monotonicMs + RESTART_BASE_MS,
    });
  }
  const effect = { kind: 'demote', incarnation: body.incarnation, activation: projected } as const;
  const answered = answerTo(e, effect);
  const stale = answered !== undefined && record.deferral !== null && isBefore(answered.atMs, record.anchor, e.now);
  if (answered === undefined || stale) return { kind: 'act', effect };
  if (answered.outcome.ok || passes(answered.outcome.refusal, answered.attempts)) return then();
  const why = answered.outcome.refusal;
  if (catalogue[why.code].retry !== 'final') {
    const dueMs = answered.atMs + retryDelayMs(answered.attempts);
    return e.now.monotonicMs >= dueMs ? { kind: 'act', effect } : rest({ wakeAtMs: dueMs });
  }
  const deferred = { ...record, deferral: why, anchor: e.now, streak: Math.max(record.streak, 1) };
  return { kind: 'persist', record: deferred, begin: null };
}

/** A deployment of the same release that does not go on by itself: its candidate stands where ours must. */
function headOf({ head }: ContinuityEvidence): readonly string[] | null {
  return head !== null && 'launch' in head.state && head.state.launch !== null ? [head.state.launch.id] : null;
}

const isBefore = (atMs: number, anchor: Moment | null, now: Moment): boolean =>
  anchor !== null && anchor.bootId === now.bootId && atMs <= anchor.monotonicMs;

/** Nobody can be asked, or nothing is published that could be demoted. */
const passes = ({ code }: Refusal, attempts: number): boolean =>
  code === 'observer-unreachable' ||
  code === 'expected-unknown' ||
  (attempts >= TOLERATED_ATTEMPTS && code !== 'activation-not-current');

/** Record, transaction, activation and the take of the target: durable before anything is started (I6). */
function begin(
  e: ContinuityEvidence,
  body: Body,
  record: ContinuityRecord,
  cause: Cause,
  free: boolean,
): ContinuityDecision {
  const { now } = e;
  const subject = subjectOf(body);
  const launch = nextLaunch(e, body);
  const phase = launch.step === 'issued' ? 'activation-issued' : 'candidate-started';
  const entered = phase === 'activation-issued' ? [phase] : ['activation-issued', phase];
  const { transaction, target } = taking(e, cause, { phase, subject, launch }, entered);
  const next: ContinuityRecord = {
    ...record,
    anchor: null,
    deferral: null,
    spare: spareBeside(e, launch.id),
    // What it takes the place of is ours as well: without the observer nobody could demote it (I9).
    issued: [...new Set([...record.issued, body.document.activation, launch.id])].slice(-ISSUED_LIMIT),
    ...(free
      ? { broughtBack: admissionOf(e, body) }
      : { streak: record.streak + 1, charged: [...record.charged, now].slice(-CHARGED_LIMIT) }),
  };
  return {
    kind: 'persist',
    record: next,
    begin: {
      transaction,
      activation: issuedBy(transaction, now, subject, launch.id),
      target,
    },
  };
}

/** A transaction of continuity as it begins, in the last of the phases that it enters, and the target that it takes. */
export function taking(
  { now, fresh, target }: ContinuityEvidence,
  cause: Cause,
  state: TransactionRecord['state'],
  entered: readonly string[],
): Pick<Begin, 'transaction' | 'target'> {
  const { transaction: id } = fresh;
  const about = { target: target.target, instance: target.instance, machine: target.machine };
  const by = { actor: 'continuity', tenant: 'local' };
  const request = { kind: 'continuity', cause } as const;
  const transaction: TransactionRecord = {
    ...newTransaction({ id, ...about, operation: id, ...by, request, intakeAt: now }),
    begunAt: now,
    state,
    log: entered.map((phase, index) => ({
      phase,
      at: now,
      tookMs: index < entered.length - 1 ? 0 : null,
      note: index === 0 ? cause : null,
    })),
  };
  return { transaction, target: { takenBy: id, restart: id } };
}

/** The spare, as far as it was minted; else a fresh id. */
function nextLaunch(e: ContinuityEvidence, body: Body): Launch {
  const spare = spareFor(e, body);
  if (spare === null) return { step: 'issued', id: e.fresh.activation };
  const minted = answerTo(e, mintOf(body, spare));
  const document: Activation | null = minted?.outcome.ok === true ? minted.outcome.value : null;
  // What cannot overlap is launched only inside its passage, once every process of the last one was seen gone.
  return document === null || standsAlone(e.plan)
    ? { step: 'issued', id: spare }
    : { step: 'minted', id: spare, document };
}
