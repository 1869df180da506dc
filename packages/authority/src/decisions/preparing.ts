import { catalogue, type Digest, digestJson, type Refusal } from '@idunn/kernel';
import { deriveExpected, incarnationKey } from '@idunn/readiness';
import type { Plan, SealedRelease } from '@idunn/release';
import type { Subject } from '../records/body.ts';
import type { StateOf, TransactionRecord } from '../records/transaction.ts';
import { standsAsAdmitted } from './admitted.ts';
import { awaitDisclosure } from './await-disclosure.ts';
import { judgeClaim } from './claim.ts';
import { deadlineMs, isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { attempt, conclude, type Decision, enter, persist, wait } from './decision.ts';
import { type DeployEvidence, planOf, slotOf } from './evidence.ts';
import { because, giveUp } from './failing.ts';
import { readFreeze } from './freeze.ts';
import { rehearse } from './rehearsing.ts';

/** How long a deployment of what seems to be admitted waits for the observer's word before it deploys anew. */
const UNCHANGED_WORD_MS = 5_000;
/** How long after its begin a deployment of what is dead gives a first restart the time to begin. */
const RESTART_SOON_MS = 500;

/** A plan is asked for its digest at every step of its phase; it never changes. */
const digests = new WeakMap<Plan, Digest>();
function planDigest(plan: Plan): Digest {
  const digest = digests.get(plan) ?? digestJson(plan);
  digests.set(plan, digest);
  return digest;
}

/** `planned`: the ref becomes an exact plan; whatever can refuse is asked before anything is fetched (F1). */
export function decidePlanned(tx: TransactionRecord, e: DeployEvidence, ref: string | null): Decision {
  const untilMs = deadlineMs(tx, 'planned', null);
  const reject = (why: Refusal): Decision =>
    conclude(tx.state, 'rejected', { incarnation: null, revision: null, refusal: why });
  if (isPast(e, untilMs)) {
    const plan = e.answers['plan']?.outcome.ok === true;
    const claim = e.claim.kind === 'unknown' ? e.claim.because : '';
    if (plan && claim !== '') return reject(because('claim-unreadable', `The owner claim: ${claim}.`));
    return reject(because('phase-deadline', 'No plan could be made in time.'));
  }
  return attempt(
    e,
    { kind: 'plan', ref },
    { what: 'the source and its plan', untilMs, impatient: true, failed: reject },
    ({ plan, fetchMs }) => {
      const digest = planDigest(plan);
      if (e.target.admitted?.plan === digest) {
        const standing = standsAsAdmitted(e, e.target.admitted);
        if (standing === 'stands') return unchanged(tx, e);
        const revived = waitForRestart(tx, e, standing, untilMs);
        if (revived !== null) return revived;
        const patienceMs = tx.clock.startedAt.monotonicMs + UNCHANGED_WORD_MS;
        if (standing === 'unknown' && e.now.monotonicMs < patienceMs) {
          return wait('the evidence about what is admitted', 'idunn status', {
            untilMs: patienceMs,
            wakeAtMs: e.now.monotonicMs + 50,
          });
        }
      }
      const claim = judgeClaim(tx, e, plan);
      if (claim.kind === 'refused') return reject(claim.why);
      if (claim.kind === 'unknown')
        return wait(claim.because, 'idunn doctor', {
          untilMs,
          wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
          incident: 'claim-unreadable',
        });
      return enter(
        { phase: 'materialized', plan: digest },
        {
          entered: [{ phase: 'materialized' }],
          clock: 'restart',
          foreignMs: fetchMs,
          extra: [
            { kind: 'plan', id: digest, value: { schema: 'idunn.plan-record/v1', digest, target: tx.target, plan } },
          ],
        },
      );
    },
  );
}

/**
 * What is admitted has just died, or is being restarted: that is what was asked for. A restart that does not come about
 * soon, held or waiting for its next attempt, is no reason not to deploy (F22).
 */
function waitForRestart(
  tx: TransactionRecord,
  e: DeployEvidence,
  standing: 'stands' | 'fallen' | 'unknown',
  untilMs: number | null,
): Decision | null {
  const { restart, admitted } = e.target;
  if (standing !== 'fallen' || admitted === null) return null;
  const gone = slotOf(e, admitted.document.activation).process.kind === 'absent';
  const soonMs = tx.clock.startedAt.monotonicMs + RESTART_SOON_MS;
  if (restart === null && !(gone && e.now.monotonicMs < soonMs)) return null;
  return wait('the restart of what is admitted', 'it ends by itself', {
    untilMs: restart === null ? soonMs : untilMs,
    wakeAtMs: e.now.monotonicMs + 50,
  });
}

function unchanged(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { incarnation, revision } = e.target.admitted ?? { incarnation: null, revision: null };
  return conclude(tx.state, 'unchanged', { incarnation, revision, refusal: null });
}

/** `materialized`: the exact tree lies in the authority's own stage. */
export function decideMaterialized(tx: TransactionRecord, e: DeployEvidence, state: StateOf<'materialized'>): Decision {
  const untilMs = deadlineMs(tx, 'materialized', planOf(e, state.plan));
  const failed = (why: Refusal): Decision => giveUp(e, { subject: null, launch: null }, why);
  if (isPast(e, untilMs)) return failed(because('phase-deadline', 'The source and its inputs were not there in time.'));
  const effect = { kind: 'materialize', plan: state.plan } as const;
  return attempt(
    e,
    effect,
    { what: 'the exact tree and its pinned inputs', untilMs, impatient: true, failed },
    ({ fetchMs }) =>
      enter(
        { phase: 'sealed', plan: state.plan, subject: null },
        { entered: [{ phase: 'sealed' }], clock: 'restart', foreignMs: fetchMs },
      ),
  );
}

/** `sealed`: built, digested, installed; the freeze is read before anything about it is published (I8). */
export function decideSealed(tx: TransactionRecord, e: DeployEvidence, state: StateOf<'sealed'>): Decision {
  const plan = planOf(e, state.plan);
  const failed = (why: Refusal): Decision => giveUp(e, { subject: state.subject, launch: null }, why);
  if (state.subject !== null) {
    const sealed = { plan, subject: state.subject };
    return rehearse(tx, e, sealed, (foreignMs) => publishing(tx, e, { ...sealed, foreignMs }));
  }
  const untilMs = deadlineMs(tx, 'sealed', plan);
  if (isPast(e, untilMs)) return failed(because('phase-deadline', 'The build was not sealed in time.'));
  const effect = { kind: 'seal', plan: state.plan } as const;
  return attempt(
    e,
    effect,
    { what: 'the recipe’s steps and the seal', untilMs, impatient: true, failed },
    ({ release, stepsMs }) => {
      const expected = deriveExpected({ plan, planDigest: state.plan, sealed: release });
      if (!expected.ok) return failed(expected.refusal);
      const incarnation = incarnationKey(expected.value);
      const subject = subjectFrom(release, state.plan, incarnation);
      return persist(
        { ...state, subject },
        {
          foreignMs: stepsMs,
          extra: [
            {
              kind: 'incarnation',
              id: incarnation,
              value: {
                schema: 'idunn.incarnation/v1',
                incarnation,
                target: tx.target,
                plan: state.plan,
                expected: expected.value,
                release,
                transaction: tx.id,
                sealedAt: e.now,
              },
            },
          ],
          target: {
            retained: [release.release, ...e.target.retained.filter((kept) => kept !== release.release)].slice(0, 64),
          },
        },
      );
    },
  );
}

const subjectFrom = (sealed: SealedRelease, plan: Digest, incarnation: Subject['incarnation']): Subject => ({
  incarnation,
  plan,
  release: sealed.release,
  build: sealed.build,
  revision: sealed.revision,
});

/** A build needs no observer; everything that changes the graph does. */
function publishing(
  tx: TransactionRecord,
  e: DeployEvidence,
  at: { plan: Plan; subject: Subject; foreignMs: number },
): Decision {
  if (e.observer.kind !== 'seen') {
    const [why, remedy] =
      e.observer.kind === 'unknown'
        ? [e.observer.because, catalogue['observer-unreachable'].remedy]
        : ['it is not admitted yet', 'idunn status shows the observer; it is started by itself'];
    return wait(`the observer: ${why}`, remedy, { wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS });
  }
  const undisclosed = awaitDisclosure(e);
  if (undisclosed !== null) return undisclosed;
  return readFreeze(tx, e, 'sealed', (admitted) =>
    enter(
      { phase: 'expected-published', subject: at.subject },
      { entered: [{ phase: 'expected-published' }], ...admitted, clock: 'restart', foreignMs: at.foreignMs },
    ),
  );
}
