import { catalogue, type Refusal } from '@idunn/kernel';
import type { Body } from '../records/body.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { recordOfAdmission } from './continuity-admission.ts';
import { type Concern, type ContinuityDecision, type Rest, rest } from './continuity-decision.ts';
import { type ContinuityEvidence, NOT_LOOKED, onDuty } from './continuity-evidence.ts';
import { healthOf } from './continuity-health.ts';
import { leadOn } from './continuity-leading.ts';
import { bringBack, type Cause, tooOften, withTooOften } from './continuity-restart.ts';
import { keepSpare } from './continuity-spare.ts';
import { earliest, retryDelayMs } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo } from './evidence.ts';
import { routeNames } from './member.ts';
import { readRows } from './rows.ts';
import { interpreterChanged } from './sealed.ts';

/** How often a process that cannot be judged is looked at again. */
const LOOK_AGAIN_MS = 1_000;
/** The same for rows that could not be read: once more before anybody is told. */
const READ_AGAIN_MS = LOOK_AGAIN_MS / 2;

/**
 * What continuity does next for one target: the admitted incarnation, or whoever holds the lease, is brought back for
 * ever (I9). Pure. It rests while a transaction owns the target, and never touches what lives and is well.
 */
export function decideContinuity(all: ContinuityEvidence): ContinuityDecision {
  const e = { ...all, record: recordOfAdmission(all.record, all.target, all.now) };
  const body = onDuty(e.target);
  if (body === null || e.target.takenBy !== null || e.target.restart !== null) return rest();
  if (isRelaunching(e.head, body) || isTaking(e)) return rest();
  switch (e.process.kind) {
    case 'unknown':
      if (e.process.because === 'not read') return { kind: 'look', at: 'process' };
      return withTooOften(
        e,
        rest({
          concerns: [{ code: 'admitted-unjudged', detail: `${body.incarnation}: ${e.process.because}` }],
          wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
        }),
      );
    case 'absent':
      return bringBack(e, body, causeOf(e, body));
    case 'seen':
      return unadmitted(e, body) ?? alive(e, body);
  }
}

/** The head of the queue launches the same release already, and nothing holds it: that is the next launch. */
const isRelaunching = (head: TransactionRecord | null, { incarnation }: Body): boolean =>
  head !== null &&
  isGoingOn(head) &&
  'launch' in head.state &&
  head.state.launch !== null &&
  head.state.subject?.incarnation === incarnation;

/** A deployment is at work, and no freeze holds it. */
const isGoingOn = (head: TransactionRecord | null): boolean => head !== null && head.clock.frozenSince === null;

/** A deployment that a restart gave way to, and that no freeze holds (I8). */
const isTaking = ({ head, target }: ContinuityEvidence): boolean => isGoingOn(head) && head?.id === target.awaitedBy;

function causeOf(e: ContinuityEvidence, { document, handle }: Body): Cause {
  if (handle.identity.bootId !== e.now.bootId) return 'rebooted';
  return e.answers[`end-process ${document.activation}`] === undefined ? 'died' : 'failed';
}

/**
 * It was left between its grant and its admission, by a restart that gave way or a deployment that was replaced, and
 * who came after it is over and took nothing. Where it lives and nobody reaches it, a new launch of it is led to the
 * end (I9); what is reached is led there itself.
 */
function unadmitted(e: ContinuityEvidence, body: Body): ContinuityDecision | null {
  if (e.target.stranded === null || isGoingOn(e.head)) return null;
  if (e.plan.route === null) return ledOn(e, body);
  if (e.route === NOT_LOOKED) return { kind: 'look', at: 'route' };
  if (routeNames(e.route, body.document.activation)) return ledOn(e, body);
  if (e.route.kind !== 'unknown') return bringBack(e, body, 'failed', 'lives, and no route leads to it');
  const decision = alive(e, body);
  if (decision.kind !== 'rest') return decision;
  return { ...decision, wakeAtMs: earliest([decision.wakeAtMs, e.now.monotonicMs + LOOK_AGAIN_MS]) };
}

/** Whatever it lacks comes first; what is well, and named by its lease, needs no other launch to be admitted (F16). */
function ledOn(e: ContinuityEvidence, body: Body): ContinuityDecision {
  const decision = alive(e, body);
  const isBusy = e.head !== null || e.target.draining.length > 0;
  const isWell = decision.kind === 'rest' && !decision.concerns.some(({ code }) => AMISS.has(code));
  return isWell && !isBusy && isVouched(e, body) ? leadOn(e, body) : decision;
}

/** The observer hears it as active, and nothing of it disagrees: the way to its admission is not the end of it. */
const isVouched = ({ word }: ContinuityEvidence, { document }: Body): boolean =>
  word.kind === 'seen' &&
  word.value.activation === document.activation &&
  word.value.present?.state === 'active' &&
  word.value.disagreements.length === 0;

/** What says that a process which lives is not what serves. */
const AMISS: ReadonlySet<Concern['code']> = new Set([
  'presence-lapsed',
  'lease-row-unexpected',
  'lease-row-unreadable',
]);

function alive(e: ContinuityEvidence, body: Body): ContinuityDecision {
  const health = healthOf(e, body);
  if (health.kind === 'failed') return bringBack(e, body, 'failed', health.detail);
  const often = tooOften(e);
  const concerns = [
    ...often.concerns,
    ...otherInterpreter(e, body),
    ...(health.kind === 'lapsed' ? [{ code: 'presence-lapsed' as const, detail: health.detail }] : []),
  ];
  const wakeAtMs = earliest([health.wakeAtMs, often.wakeAtMs]);
  const resting = rest({ concerns, wakeAtMs });
  if (e.target.draining.length > 0 || hasPublished(e)) return resting;
  if (!isGoingOn(e.head) && e.plan.state !== null && e.rows === NOT_LOOKED) return { kind: 'look', at: 'rows' };
  const heir = goneHolder(e, body);
  if (heir !== null) return bringBack(e, body, 'failed', `lives, and its lease went to ${heir}, which is gone`);
  const amiss = leaseAmiss(e, body);
  if (amiss === null) return or(shown(e, body) ?? (e.head === null ? keepSpare(e, body) : null), resting);
  const { afterMs, ...concern } = amiss;
  const told = rest({
    concerns: [...concerns, concern],
    wakeAtMs: earliest([wakeAtMs, e.now.monotonicMs + afterMs]),
  });
  return concern.code === 'lease-row-unreadable' ? or(shown(e, body), told) : told;
}

/** What waits for its turn again hides nothing that is amiss. */
function or(next: ContinuityDecision | null, resting: Rest): ContinuityDecision {
  if (next?.kind !== 'rest') return next ?? resting;
  return { ...resting, wakeAtMs: earliest([next.wakeAtMs, resting.wakeAtMs]) };
}

/** A deployment that changes the graph tells the observer itself; while it is built or waits, what stands is told. */
const hasPublished = ({ head }: ContinuityEvidence): boolean =>
  head !== null && !['queued', 'planned', 'materialized', 'sealed'].includes(head.state.phase);

/** It was brought back all the same; what it runs under is not what was sealed (I2). */
function otherInterpreter({ plan }: ContinuityEvidence, body: Body): readonly Concern[] {
  const sealed = interpreterChanged(plan, body);
  if (sealed === null) return [];
  const { path, digest } = sealed;
  const detail = `${path} of the host is ${body.observed.executable}; ${body.incarnation} was sealed with ${digest}`;
  return [{ code: 'interpreter-changed', detail }];
}

/**
 * The lease went to another launch of ours, such as a restart that was given up after its grant, and that is seen gone:
 * its own stores refuse what lives for ever, so that a new launch takes its place (I9). `null`: it is not so.
 */
function goneHolder({ rows, holder }: ContinuityEvidence, { document }: Body): string | null {
  const reading = rows.kind === 'seen' ? readRows(rows.value, null) : null;
  const named = reading?.kind === 'uniform' ? reading.standing.activation : null;
  if (named === null || named === document.activation) return null;
  return holder.issued && holder.found.kind === 'absent' ? named : null;
}

/**
 * What is on duty lives, and its lease names somebody else: our records are older than the world, or somebody wrote
 * past us. Nothing is done about it but to tell (I1, I3). Rows that cannot be read show no end of it (I10).
 */
function leaseAmiss(e: ContinuityEvidence, { document, incarnation }: Body): (Concern & { afterMs: number }) | null {
  if (e.plan.state === null || e.rows === NOT_LOOKED) return null;
  if (e.rows.kind === 'unknown') {
    const detail = `${document.activation} of ${incarnation} runs, and its lease row cannot be read: ${e.rows.because}`;
    return { code: 'lease-row-unreadable', detail, afterMs: READ_AGAIN_MS };
  }
  const reading = e.rows.kind === 'seen' ? readRows(e.rows.value, null) : null;
  if (reading?.kind === 'uniform' && reading.standing.activation === document.activation) return null;
  const named = reading?.kind === 'uniform' ? `names ${reading.standing.activation ?? 'nobody'}` : 'names no one';
  const detail = `${document.activation} of ${incarnation} runs as admitted, and the lease row ${named}`;
  return { code: 'lease-row-unexpected', detail, afterMs: LOOK_AGAIN_MS };
}

/**
 * What a restart without the observer could not publish, or what the observer lost, is published once it can be:
 * Expected under its key, then exactly this activation (I4).
 */
function shown(e: ContinuityEvidence, body: Body): ContinuityDecision | null {
  if (e.word.kind === 'unknown') return null;
  const { document, observed } = body;
  if (e.word.kind === 'absent') return once(e, { kind: 'publish-expected', subject: body });
  if (e.word.value.activation === document.activation) return null;
  return once(e, { kind: 'publish-activation', document, observed });
}

/** Does it, and after a passing refusal again; a final one is left to be seen in the status. */
function once(
  e: ContinuityEvidence,
  effect: EffectOf<'publish-expected'> | EffectOf<'publish-activation'>,
): ContinuityDecision | null {
  const answered = answerTo(e, effect);
  if (answered === undefined) return { kind: 'act', effect };
  if (answered.outcome.ok) return null;
  const { refusal }: { refusal: Refusal } = answered.outcome;
  if (catalogue[refusal.code].retry === 'final') return null;
  const dueMs = answered.atMs + 10 * retryDelayMs(answered.attempts);
  return e.now.monotonicMs >= dueMs ? { kind: 'act', effect } : rest({ wakeAtMs: dueMs });
}
