import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { OwnerClaim } from '../ports/lease-port.ts';
import type { Subject } from '../records/body.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { EffectOf } from './effects.ts';
import { type DeployEvidence, planOf } from './evidence.ts';
import { because } from './failing.ts';

export type ClaimJudgement =
  | { readonly kind: 'ours'; readonly highestEpoch: number; readonly takenOver: boolean }
  | { readonly kind: 'refused'; readonly why: Refusal }
  | { readonly kind: 'unknown'; readonly because: string };

const isOurs = (plan: Plan, claim: OwnerClaim): boolean => claim.fleet === plan.fleet && claim.target === plan.target;

/**
 * Epochs were granted that no record knows of: an intent was cut off after its claim, or the records are older than the
 * world. Then somebody may run that they do not name, and keep its row in another place.
 */
export const isOlderThanClaim = ({
  claim,
  target,
}: Pick<DeployEvidence, 'claim'> & { readonly target: Pick<TargetRecord, 'highestEpoch'> }): boolean =>
  claim.kind === 'seen' && claim.value.highestEpoch > target.highestEpoch;

/** A state that another fleet or target owns is refused until the operator took exactly that claim over. */
export function judgeClaim(tx: TransactionRecord, e: DeployEvidence, plan: Plan): ClaimJudgement {
  if (plan.state === null) return { kind: 'ours', highestEpoch: 0, takenOver: false };
  switch (e.claim.kind) {
    case 'unknown':
      return { kind: 'unknown', because: `the owner claim beside the state cannot be read: ${e.claim.because}` };
    case 'absent':
      return { kind: 'ours', highestEpoch: 0, takenOver: false };
    case 'seen':
      break;
  }
  const claim = e.claim.value;
  if (isOurs(plan, claim)) {
    // The consent goes with the intent: until then a claim that is ours already was written for it.
    const takenOver = e.consent?.claim.stateId === claim.stateId;
    return { kind: 'ours', highestEpoch: claim.highestEpoch, takenOver };
  }
  if (consents(e, claim)) return { kind: 'ours', highestEpoch: claim.highestEpoch, takenOver: true };
  const owner = `${claim.fleet}/${claim.target}`;
  return {
    kind: 'refused',
    why: {
      ...because('foreign-claim', `The state of ${tx.target} belongs to ${owner}.`),
      remedy: `If ${owner} is gone, run: idunn takeover ${tx.target} --confirm ${owner}`,
    },
  };
}

/** The claim that goes with an intent, over the one that the intent was decided on: whoever came meanwhile stays. */
export function claimFor(e: DeployEvidence, subject: Subject, highestEpoch: number): EffectOf<'write-claim'> | null {
  const { fleet, target, state } = planOf(e, subject.plan);
  if (state === null) return null;
  const claim = { schema: 'idunn.owner-claim/v1', fleet, target, stateId: state.stateId, highestEpoch } as const;
  return { kind: 'write-claim', plan: subject.plan, claim, over: e.claim.kind === 'seen' ? e.claim.value : null };
}

/** Consent is to one exact claim; a foreign owner that moved on needs a new one. */
function consents(e: DeployEvidence, claim: OwnerClaim): boolean {
  const given = e.consent?.claim;
  return (
    given !== undefined &&
    given.fleet === claim.fleet &&
    given.target === claim.target &&
    given.stateId === claim.stateId &&
    given.highestEpoch === claim.highestEpoch
  );
}
