import type { Refusal } from '@idunn/kernel';
import type { OwnerClaim } from '../ports/lease-port.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { deadlineMs, isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { attempt, conclude, type Decision, type ExtraWrite, wait } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';
import { decideSetAside } from './set-aside.ts';
import type { TakeoverFrame } from './takeover-frame.ts';

/** An operator's typed word that sets aside who stands in the target's way: a foreign owner, or an unknown holder. */
export function decideTakeover(tx: TransactionRecord, e: DeployEvidence, confirm: string): Decision {
  const untilMs = deadlineMs(tx, 'planned', null);
  const ended = { incarnation: null, revision: null };
  const reject = (why: Refusal): Decision => conclude(tx.state, 'rejected', { ...ended, refusal: why });
  const done = (record: ExtraWrite): Decision =>
    conclude(tx.state, 'done', { ...ended, refusal: null }, { extra: [record] });
  if (isPast(e, untilMs) && e.answers['plan']?.outcome.ok !== true) {
    return reject(because('phase-deadline', 'No plan could be made in time.'));
  }
  return attempt(
    e,
    { kind: 'plan', ref: null },
    { what: 'the source and its plan', untilMs, impatient: true, failed: reject },
    ({ plan }) => setAside({ tx, e, plan, confirm, untilMs, reject, done }),
  );
}

function setAside(at: TakeoverFrame): Decision {
  const { e, plan, untilMs, reject } = at;
  if (plan.state === null) return decideSetAside(at);
  if (e.claim.kind === 'unknown') {
    if (isPast(e, untilMs)) return reject(because('claim-unreadable', `The owner claim: ${e.claim.because}.`));
    return wait(`the owner claim: ${e.claim.because}`, 'idunn doctor', {
      untilMs,
      wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
      incident: 'claim-unreadable',
    });
  }
  const claim = e.claim.kind === 'seen' ? e.claim.value : null;
  const isForeign = claim !== null && !(claim.fleet === plan.fleet && claim.target === plan.target);
  return isForeign ? consent(at, claim) : decideSetAside(at);
}

/** That a foreign owner is gone, kept for the handover intent that will use it. */
function consent({ tx, e, confirm, reject, done }: TakeoverFrame, claim: OwnerClaim): Decision {
  const { fleet, target, stateId, highestEpoch } = claim;
  const owner = `${fleet}/${target}`;
  if (confirm !== owner) {
    return reject(because('takeover-not-confirmed', `The state belongs to ${owner}; "${confirm}" does not name it.`));
  }
  const { actor, tenant } = tx;
  return done({
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
  });
}
