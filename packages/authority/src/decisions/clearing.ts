import type { WorkloadHandle } from '../ports/workload-port.ts';
import { type Body, type Launch, launchOf, type Subject } from '../records/body.ts';
import type { StateOf, TransactionRecord } from '../records/transaction.ts';
import {
  act,
  conclude,
  type Decision,
  enter,
  persist,
  retryDelayMs,
  TOLERATED_ATTEMPTS,
  tolerate,
  wait,
} from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo, type DeployEvidence, planOf, slotOf } from './evidence.ts';

/** A stop that ends with an observed exit (F15). `proven`: nothing less than the whole tree seen gone will do. */
export function endProcess(
  e: DeployEvidence,
  stop: { launch: Launch; graceMs: number; proven: boolean },
  then: (proof: 'gone' | 'parent-gone') => Decision,
): Decision {
  const { launch, graceMs } = stop;
  const effect: EffectOf<'end-process'> = {
    kind: 'end-process',
    activation: launch.id,
    handle: handleOf(e, launch),
    graceMs,
  };
  const answered = answerTo(e, effect);
  if (answered === undefined) return act(effect);
  const answer = answered.outcome.ok ? answered.outcome.value : null;
  if (answer?.kind === 'gone') return then('gone');
  if (answer?.kind === 'parent-gone' && !stop.proven) return then('parent-gone');
  const dueMs = answered.atMs + retryDelayMs(answered.attempts);
  if (e.now.monotonicMs >= dueMs) return act(effect);
  const incident = answered.attempts < TOLERATED_ATTEMPTS ? undefined : 'fence-not-proven';
  return wait(`every process of ${launch.id} to be gone`, 'idunn doctor', { wakeAtMs: dueMs, incident });
}

/** The recorded handle, or the one that the start answered before it could be recorded. */
function handleOf(e: DeployEvidence, launch: Launch): WorkloadHandle | null {
  if (launch.step === 'observed' || launch.step === 'current') return launch.handle;
  const started = e.answers[`start ${launch.id}`]?.outcome;
  return started?.ok === true ? (started.value as WorkloadHandle) : null;
}

/** Ends a launch and takes its activation away: a start of it that is still on its way finds it spent (I1). */
export const spend = (
  e: DeployEvidence,
  stop: { launch: Launch; graceMs: number; proven?: boolean },
  then: () => Decision,
): Decision =>
  endProcess(e, { proven: false, ...stop }, () =>
    tolerate(e, { kind: 'retire', activation: stop.launch.id }, { what: 'the spent activation to go' }, then),
  );

/** Stops a candidate, as its plan allows it to end. */
export const clearAway = (
  e: DeployEvidence,
  { subject, launch }: { subject: Subject; launch: Launch },
  then: () => Decision,
): Decision => endProcess(e, { launch, graceMs: planOf(e, subject.plan).deadlines.stopMs, proven: false }, then);

/** Takes back what was published about a candidate that is gone; what the incumbent published stays (I7). */
export function takeBack(
  e: DeployEvidence,
  gone: { subject: Subject; launch: Launch; stays: Body | null },
  then: () => Decision,
): Decision {
  const { subject, launch, stays } = gone;
  const demote = { kind: 'demote', incarnation: subject.incarnation, activation: launch.id } as const;
  return tolerate(e, demote, { what: 'the observer to demote the activation' }, () =>
    retractExpected(e, subject, stays, () =>
      tolerate(e, { kind: 'retire', activation: launch.id }, { what: 'the activation directory to go' }, then),
    ),
  );
}

/** The same build deployed again shares its key with the incumbent, whose activation becomes current again. */
function retractExpected(e: DeployEvidence, subject: Subject, stays: Body | null, then: () => Decision): Decision {
  const what = 'the observer to withdraw Expected';
  if (stays?.incarnation !== subject.incarnation) {
    return tolerate(e, { kind: 'withdraw-expected', incarnation: subject.incarnation }, { what }, then);
  }
  const { document, observed } = stays;
  // Nobody puts back an activation whose process is gone: Expected stands alone until the next launch.
  if (slotOf(e, document.activation).process.kind === 'absent') return then();
  return tolerate(
    e,
    { kind: 'publish-activation', document, observed },
    { what: 'the observer to restore the activation' },
    then,
  );
}

/** Before the fence: the candidate goes, its records are withdrawn, the incumbent was never touched (I7). */
export function decideAborting(tx: TransactionRecord, e: DeployEvidence, state: StateOf<'aborting'>): Decision {
  const incumbent = e.target.stranded ?? e.target.admitted;
  const done = (): Decision =>
    conclude(state, state.outcome, {
      incarnation: incumbent?.incarnation ?? null,
      revision: incumbent?.revision ?? null,
      refusal: state.why,
    });
  return withdraw(tx, e, state, () => {
    const { subject, launch } = state;
    if (subject === null) return done();
    if (launch === null) return retractUnlessShared(e, subject, incumbent, done);
    if (!state.gone) {
      const graceMs = planOf(e, subject.plan).deadlines.stopMs;
      // A program that nobody granted anything may be writing: nothing less than its whole end will do (I1).
      const proven = state.why.code === 'ran-before-grant';
      return endProcess(e, { launch, graceMs, proven }, () => persist({ ...state, gone: true }));
    }
    return takeBack(e, { subject, launch, stays: incumbent }, done);
  });
}

const retractUnlessShared = (
  e: DeployEvidence,
  subject: Subject,
  stays: Body | null,
  then: () => Decision,
): Decision => (stays?.incarnation === subject.incarnation ? then() : retractExpected(e, subject, null, then));

/** A handover that never committed: the incumbent re-reads the row and goes on, and the router lets go. */
function withdraw(
  tx: TransactionRecord,
  e: DeployEvidence,
  state: StateOf<'aborting'>,
  then: () => Decision,
): Decision {
  if (state.withdraw === null) return then();
  const { activation, requestId } = state.withdraw;
  const route = state.subject === null ? null : planOf(e, state.subject.plan).route;
  const released = (): Decision =>
    route === null
      ? then()
      : tolerate(e, { kind: 'release-route', route: route.name }, { what: `the router of ${tx.target}` }, then);
  if (activation === null) return released();
  return tolerate(e, { kind: 'withdraw', activation, requestId }, { what: 'the incumbent to go on' }, released);
}

/** The displaced processes finish what they hold, then end, one by one; nobody waits for them (F3, F10, F25). */
export function decideDraining(tx: TransactionRecord, e: DeployEvidence, state: StateOf<'draining'>): Decision {
  const body = state.leaving[0];
  if (body === undefined) return enter({ phase: 'complete' }, { entered: [{ phase: 'complete' }], leaves: 'end' });
  const plan = planOf(e, body.plan);
  const drained = (): Decision => {
    const graceMs = plan.deadlines.stopMs;
    return endProcess(e, { launch: launchOf(body), graceMs, proven: false }, () => clearBody(e, state, body));
  };
  // The successor of the same build shares the key: its own requests would be counted.
  if (plan.route === null || body.incarnation === state.admitted.incarnation) return drained();
  const untilMs = tx.clock.startedAt.monotonicMs + plan.drainMs;
  if (e.now.monotonicMs >= untilMs) return drained();
  const effect: EffectOf<'open-requests'> = {
    kind: 'open-requests',
    route: plan.route.name,
    incarnation: body.incarnation,
    withinMs: plan.drainMs,
  };
  const answered = answerTo(e, effect);
  if (answered === undefined) return act(effect);
  if (answered.outcome.ok && answered.outcome.value === 0) return drained();
  const dueMs = answered.atMs + Math.min(retryDelayMs(answered.attempts), 250);
  if (e.now.monotonicMs >= dueMs) return act(effect);
  const open = answered.outcome.ok ? (answered.outcome.value ?? 'an unknown number of') : 'an unknown number of';
  return wait(`${open} requests of ${body.incarnation} to end`, 'they are ended at the deadline', {
    untilMs,
    wakeAtMs: Math.min(dueMs, untilMs),
  });
}

function clearBody(e: DeployEvidence, state: StateOf<'draining'>, body: Body): Decision {
  const activation = body.document.activation;
  const { incarnation } = body;
  const current = e.target.admitted ?? state.admitted;
  const left = (): Decision => persist({ ...state, leaving: state.leaving.slice(1) }, { clock: 'restart' });
  const retire = (): Decision =>
    tolerate(e, { kind: 'retire', activation }, { what: 'the activation directory to be removed' }, left);
  const shared = incarnation === current.incarnation || incarnation === state.admitted.incarnation;
  return tolerate(
    e,
    { kind: 'demote', incarnation, activation },
    { what: 'the observer to demote the activation' },
    () =>
      shared
        ? retire()
        : tolerate(
            e,
            { kind: 'withdraw-expected', incarnation },
            { what: 'the observer to withdraw Expected' },
            retire,
          ),
  );
}
