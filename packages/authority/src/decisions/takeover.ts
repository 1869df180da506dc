import type { Refusal } from '@idunn/kernel';
import type { TransactionRecord } from '../records/transaction.ts';
import { deadlineMs, isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { attempt, conclude, type Decision, wait } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';

/** The operator's typed word that a foreign owner is gone, kept for the handover intent that will use it. */
export function decideTakeover(tx: TransactionRecord, e: DeployEvidence, confirm: string): Decision {
  const untilMs = deadlineMs(tx, 'planned', null);
  const reject = (why: Refusal): Decision =>
    conclude(tx.state, 'rejected', { incarnation: null, revision: null, refusal: why });
  if (isPast(e, untilMs))
    return reject(because('phase-deadline', 'The plan or the owner claim could not be read in time.'));
  return attempt(
    e,
    { kind: 'plan', ref: null },
    { what: 'the source and its plan', untilMs, impatient: true, failed: reject },
    ({ plan }) => {
      const nothing = reject(
        because('nothing-to-take-over', `No foreign claim lies beside the state of ${tx.target}.`),
      );
      if (plan.state === null || e.claim.kind === 'absent') return nothing;
      if (e.claim.kind === 'unknown') {
        return wait(`the owner claim: ${e.claim.because}`, 'idunn doctor', {
          untilMs,
          wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
          incident: 'claim-unreadable',
        });
      }
      const { fleet, target, stateId, highestEpoch } = e.claim.value;
      if (fleet === plan.fleet && target === plan.target) return nothing;
      if (confirm !== `${fleet}/${target}`) {
        return reject(
          because('takeover-not-confirmed', `The state belongs to ${fleet}/${target}; "${confirm}" does not name it.`),
        );
      }
      const { actor, tenant } = tx;
      return conclude(
        tx.state,
        'done',
        { incarnation: null, revision: null, refusal: null },
        {
          entered: [],
          leaves: 'end',
          extra: [
            {
              kind: 'takeover',
              id: tx.target,
              value: {
                schema: 'idunn.takeover/v1',
                target: tx.target,
                actor,
                tenant,
                claim: { fleet, target, stateId, highestEpoch },
                transaction: tx.id,
                at: e.now,
              },
            },
          ],
        },
      );
    },
  );
}
