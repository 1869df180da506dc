import type { Moment, Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { Launch, Running, Subject } from '../records/body.ts';
import type { ActivationRecord } from '../records/operation.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { spend } from './clearing.ts';
import { isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { act, attempt, type Decision, earliest, type Strand, together, tolerate, wait } from './decision.ts';
import { effectKey } from './effects.ts';
import { answerTo, type DeployEvidence, planOf, slotOf } from './evidence.ts';
import { because } from './failing.ts';
import { judgeWord } from './judge-word.ts';
import { isGated } from './manner.ts';
import { observerAway } from './receipt.ts';
import { otherThanLaunched } from './sealed.ts';

/** How the caller makes a launch's progress durable, and what it does when the launch ends. */
export interface LaunchFrame {
  readonly untilMs: number | null;
  /** Monotonic milliseconds: a launch that is current and has not said its first word by then has failed. */
  readonly firstWordUntilMs?: number | null;
  /** A restart of what was admitted: the observer is told, not asked, and the lease connection's own word will do. */
  readonly alone?: boolean;
  readonly advance: (launch: Launch) => Decision;
  readonly failed: (why: Refusal) => Decision;
  /** Its start was cut off together with an engine, and the activation is spent: a fresh one for the same release. */
  readonly anew: () => Decision;
  /** The process is current and has signed that it warms. */
  readonly warm: (launch: Running) => Decision;
}

export const issueRecord = (tx: TransactionRecord, e: DeployEvidence, subject: Subject, id: string): ActivationRecord =>
  issuedBy(tx, e.now, subject, id);

export const issuedBy = (
  tx: Pick<TransactionRecord, 'id' | 'target'>,
  now: Moment,
  subject: Subject,
  id: string,
): ActivationRecord => ({
  schema: 'idunn.issued-activation/v1',
  activation: id,
  target: tx.target,
  incarnation: subject.incarnation,
  release: subject.release,
  transaction: tx.id,
  at: now,
});

/**
 * One launch, from its id to its signed `warming`; the same steps for a candidate and for an incumbent that returns.
 */
export function decideLaunch(e: DeployEvidence, subject: Subject, launch: Launch, frame: LaunchFrame): Decision {
  switch (launch.step) {
    case 'issued':
      return mint(e, subject, launch, frame);
    case 'minted':
      return start(e, subject, launch, frame);
    case 'observed':
      return publish(e, launch, frame);
    case 'current':
      return awaitWarming(e, subject, launch, frame);
  }
}

/**
 * The rows exist before the program is started and can open its stores; the id was durable before the credential is
 * minted (I6).
 */
function mint(e: DeployEvidence, subject: Subject, launch: Launch, frame: LaunchFrame): Decision {
  const effect = { kind: 'mint', subject, activation: launch.id } as const;
  const minting: Strand = (ended) => attempt(e, effect, { what: 'the activation and its credential', ...frame }, ended);
  const rows: Strand = (ended) =>
    attempt(e, { kind: 'prepare-lease', plan: subject.plan }, { what: 'the lease rows', ...frame }, ended);
  const strands = planOf(e, subject.plan).state === null ? [minting] : [rows, minting];
  return together(strands, () =>
    attempt(e, effect, { what: 'the activation and its credential', ...frame }, (document) =>
      frame.advance({ step: 'minted', id: launch.id, document }),
    ),
  );
}

function start(
  e: DeployEvidence,
  subject: Subject,
  launch: Extract<Launch, { step: 'minted' }>,
  frame: LaunchFrame,
): Decision {
  const { found, process } = slotOf(e, launch.id);
  const effect = { kind: 'start', subject, document: launch.document } as const;
  const started = answerTo<'start'>(e, effect);
  // We took it away ourselves: without a control group nobody could say of it now that nothing is left.
  if (answerTo(e, { kind: 'retire', activation: launch.id })?.outcome.ok === true) return frame.anew();
  // Looked for before it is started: a launch whose record was lost is found, never doubled (I6).
  if (found.kind === 'unknown') return unseen('the process of the candidate', found.because, frame.untilMs, e);
  if (found.kind === 'absent') {
    if (started?.outcome.ok === true) return frame.failed(exited(launch.id));
    const failed = (why: Refusal): Decision =>
      why.code === 'activation-spent' ? cutOff(e, launch, frame) : frame.failed(why);
    return attempt(e, effect, { what: 'the start of the candidate', untilMs: frame.untilMs, failed }, () =>
      frame.failed(exited(launch.id)),
    );
  }
  if (process.kind === 'absent') return frame.failed(exited(launch.id));
  if (process.kind === 'unknown') return unseen('the process of the candidate', process.because, frame.untilMs, e);
  const seen = { handle: found.value, observed: process.value };
  const other = isGated(planOf(e, subject.plan))
    ? notAtItsGate(seen)
    : otherThanLaunched(e, subject, seen, seen.observed, frame.alone === true);
  if (other !== null) return frame.failed(other);
  return frame.advance({ ...launch, step: 'observed', ...seen });
}

/** Of a gated start the launcher is seen first, and nothing else. */
const notAtItsGate = ({ handle, observed }: Pick<Running, 'handle' | 'observed'>): Refusal | null =>
  observed.gate === 'waiting'
    ? null
    : because('ran-before-grant', `${handle.activation} was found running; its launcher was never seen to wait.`);

/** Nobody saw why it ended: what is left of it goes, and the same release is launched once more (I6). */
function cutOff(e: DeployEvidence, launch: Launch, frame: LaunchFrame): Decision {
  return spend(e, { launch, graceMs: 0 }, frame.anew);
}

/** The activation becomes current only after exactly this process was observed (I4). */
function publish(e: DeployEvidence, launch: Running, frame: LaunchFrame): Decision {
  const effect = { kind: 'publish-activation', document: launch.document, observed: launch.observed } as const;
  const what = 'the observer to take the activation as current';
  const current = (): Decision => frame.advance({ ...launch, step: 'current' });
  // What an observer that is away did not hear, continuity tells it later.
  if (frame.alone === true) return tolerate(e, effect, { what, attempts: 1 }, current);
  return attempt(e, effect, { what, ...frame }, current);
}

function awaitWarming(e: DeployEvidence, subject: Subject, launch: Running, frame: LaunchFrame): Decision {
  const { process } = slotOf(e, launch.id);
  if (process.kind === 'absent') return frame.failed(exited(launch.id));
  if (process.kind === 'seen') {
    const other = otherThanLaunched(e, subject, launch, process.value, frame.alone === true);
    if (other !== null) return frame.failed(other);
  }
  const alone = frame.alone === true;
  const judged = judgeWord(e, planOf(e, subject.plan), launch.id, {
    granted: null,
    alone,
    ...(alone ? { brought: launch } : {}),
  });
  switch (judged.kind) {
    case 'wrong':
      return frame.failed(judged.why);
    case 'warming':
    case 'active':
      return frame.warm(launch);
    case 'silent':
      return isMute(e, launch, frame)
        ? frame.failed(neverWarmed(e, subject, launch.id))
        : (meetEarly(e, subject, launch, alone) ?? awaitFirstWord(e, subject, frame));
  }
}

/** Its own time is over. While the observer, whose relayed word is the only one, is away, nobody is mute (I10). */
const isMute = (e: DeployEvidence, { id }: Running, { firstWordUntilMs, alone }: LaunchFrame): boolean =>
  isPast(e, firstWordUntilMs ?? null) && (alone === true || observerAway(e, id) === null);

function awaitFirstWord(e: DeployEvidence, { plan }: Subject, frame: LaunchFrame): Decision {
  const own = frame.firstWordUntilMs ?? null;
  const untilMs = earliest([frame.untilMs, isPast(e, own) ? null : own]);
  // No event tells that a program has replaced itself.
  const lookMs = e.now.monotonicMs + (frame.alone === true ? LOOK_AGAIN_MS / 5 : LOOK_AGAIN_MS);
  return wait(...firstWord(planOf(e, plan)), { untilMs, wakeAtMs: earliest([lookMs, untilMs]) });
}

/** Why a launch whose time to warm is over never did. */
export function neverWarmed(e: DeployEvidence, { plan }: Subject, id: string): Refusal {
  const { word, presence } = slotOf(e, id);
  const spoke = presence.kind === 'seen' || (word.kind === 'seen' && word.value.present !== null);
  if (!spoke && planOf(e, plan).health.kind === 'attended') {
    return because('candidate-never-healthy', 'Its probe never read well in time.');
  }
  return spoke
    ? because('candidate-never-warming', 'It spoke, but the observer relayed no `warming` that agrees with Expected.')
    : because('candidate-never-warming', 'It never sent a presence that could be verified.');
}

/** What is waited for, and where to look: an attended program says nothing before its probe read well. */
const firstWord = ({ health }: Plan): [what: string, remedy: string] =>
  health.kind === 'attended'
    ? ['the first good reading of its probe', 'idunn status shows its last reading, idunn logs what it writes']
    : ['the first signed word of the candidate, relayed by the observer', 'idunn logs shows what it does'];

/**
 * The lease connection is opened while the program still starts, once; who needs it opens it again. Decisions go on
 * meanwhile, and it grants nothing. A restart may have nothing but this connection's word, and opens it until it
 * stands.
 */
export function meetEarly(e: DeployEvidence, subject: Subject, { handle }: Running, alone: boolean): Decision | null {
  const effect = { kind: 'open-channel', handle } as const;
  if (e.running.includes(effectKey(effect)) || (planOf(e, subject.plan).state === null && !alone)) return null;
  const answered = answerTo(e, effect);
  if (answered === undefined) return act(effect);
  const again = alone && !answered.outcome.ok && e.now.monotonicMs >= answered.atMs + LOOK_AGAIN_MS / 5;
  return again ? act(effect) : null;
}

export const exited = (id: string): Refusal =>
  because('candidate-exited', `The process of ${id} ended before it was admitted.`);

const unseen = (what: string, why: string, untilMs: number | null, e: DeployEvidence): Decision =>
  wait(`${what} cannot be seen: ${why}`, 'idunn doctor', { untilMs, wakeAtMs: e.now.monotonicMs + 100 });
