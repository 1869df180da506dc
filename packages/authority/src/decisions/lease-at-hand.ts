import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { IncidentCode } from '../model/incident-code.ts';
import { type Body, bodyAlone } from '../records/body.ts';
import type { Standing } from '../records/passage.ts';
import { DRAINING_LIMIT } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { judgeClaim } from './claim.ts';
import type { DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';
import { endIsProvable, endsFirst } from './manner.ts';
import { readRows } from './rows.ts';

/** What a deployment would displace: a stranded holder of the lease first, then what is admitted. */
export const incumbentsOf = (e: Pick<DeployEvidence, 'target'>): readonly Body[] =>
  [e.target.stranded, e.target.admitted].filter((body) => body !== null).map(bodyAlone);

export type LeaseAtHand =
  | { readonly kind: 'free'; readonly row: Standing; readonly epoch: number; readonly takenOver: boolean }
  | { readonly kind: 'refused'; readonly why: Refusal }
  | HeldUp;

/** Nothing is granted until its cause has ended. */
export interface HeldUp extends Held {
  readonly kind: 'held-up';
  readonly what: string;
}

/** What a person looks at while something holds a target up, and the command that ends it, where there is one. */
export interface Held {
  readonly incident: IncidentCode;
  readonly remedy?: string;
}

/** Claim and rows before an intent: whose the state is, whom the row names, and the epoch that comes next (I1, I5). */
export function leaseAtHand(tx: TransactionRecord, e: DeployEvidence, plan: Plan, candidate: string): LeaseAtHand {
  const claim = judgeClaim(tx, e, plan);
  if (claim.kind === 'refused') return refusedOrHeld(tx, claim.why, 'foreign-claim');
  if (claim.kind === 'unknown') return { kind: 'held-up', what: claim.because, incident: 'claim-unreadable' };
  if (e.rows.kind !== 'seen') {
    const what = e.rows.kind === 'unknown' ? `the lease rows cannot be read: ${e.rows.because}` : 'the lease rows';
    return { kind: 'held-up', what, incident: 'lease-row-unreadable' };
  }
  const rows = readRows(e.rows.value, null);
  if (rows.kind !== 'uniform') {
    const why = because('lease-row-unexpected', 'The stores name different holders.');
    return refusedOrHeld(tx, why, 'lease-row-unexpected');
  }
  const row = rows.standing;
  if (row.activation === candidate) {
    return {
      kind: 'refused',
      why: because('wrote-before-lease', `The row names ${candidate}, which nobody granted.`),
    };
  }
  const stranger = strangerHolds(e, row, claim.takenOver);
  if (stranger !== null && row.activation !== null) {
    const remedy = setAsideBy(tx.target, row.activation);
    return { kind: 'held-up', what: stranger, incident: 'lease-row-unexpected', remedy };
  }
  // A claim that this engine wrote for the intent at hand is the epoch to come, however often it is read meanwhile.
  const claimed =
    e.answers[`write-claim ${claim.highestEpoch}`]?.outcome.ok === true ? claim.highestEpoch - 1 : claim.highestEpoch;
  const epoch = Math.max(row.epoch, claimed, e.target.highestEpoch) + 1;
  return { kind: 'free', row, epoch, takenOver: claim.takenOver };
}

/** A deployment is refused; a restart has nobody to answer to, and goes on once the cause has ended (I9). */
const refusedOrHeld = (tx: TransactionRecord, why: Refusal, incident: IncidentCode): LeaseAtHand =>
  tx.request.kind === 'continuity' ? { kind: 'held-up', what: why.reason, incident } : { kind: 'refused', why };

/** Why nothing was granted, where the row names somebody whom our records do not know; `null` where it does not. */
export function heldBySomebody(
  tx: TransactionRecord,
  e: DeployEvidence,
  plan: Plan,
  candidate: string,
): Refusal | null {
  if (plan.state === null || e.rows.kind !== 'seen') return null;
  const lease = leaseAtHand(tx, e, plan, candidate);
  if (lease.kind !== 'held-up' || lease.incident !== 'lease-row-unexpected') return null;
  const why = because('lease-row-unexpected', `Nothing was granted over ${lease.what}.`);
  return lease.remedy === undefined ? why : { ...why, remedy: lease.remedy };
}

/** What an operator does about a holder whom no record explains. */
export const setAsideBy = (target: string, activation: string): string =>
  `if it may end, idunn takeover ${target} --confirm ${activation} ends it; idunn inspect ${target} shows the lease`;

/** A row that names an activation we neither run nor can prove gone is held, never overwritten (I1, I10). */
export function strangerHolds(
  e: Pick<DeployEvidence, 'target' | 'holder'>,
  row: Standing,
  takenOver: boolean,
): string | null {
  if (row.activation === null || takenOver) return null;
  if (incumbentsOf(e).some(({ document }) => document.activation === row.activation)) return null;
  if (e.holder.issued && e.holder.found.kind === 'absent') return null;
  const who = e.holder.issued ? 'an earlier launch that is not seen gone' : 'an activation that nobody here issued';
  return `the lease row, which names ${row.activation}, ${who}`;
}

/**
 * What keeps the target from being taken just now; `null` when nothing does. What an earlier deployment displaced and
 * what only the end of every process fences may not run side by side either (I1).
 */
export function untakeable(tx: TransactionRecord, e: DeployEvidence, plan: Plan): string | null {
  const { draining, takenBy } = e.target;
  const limit = endsFirst(e, plan, incumbentsOf(e)) ? 1 : DRAINING_LIMIT;
  if (draining.length >= limit) return `${draining.length} earlier processes that are still leaving`;
  return takenBy !== null && takenBy !== tx.id ? `${takenBy}, which owns the target` : null;
}

/**
 * What may run beside what cannot overlap, though no record that stands says so: our records may be older than what
 * lives. `null` once it was looked, and there is nobody (I10).
 */
export function runsBeside({ others }: Pick<DeployEvidence, 'others'>): string | null {
  if (others.kind !== 'seen') {
    const because = others.kind === 'unknown' ? others.because : 'nobody answers';
    return `what else runs of it, which cannot be seen: ${because}`;
  }
  const [first] = others.value;
  if (first === undefined) return null;
  const process = first.pid === null ? 'which may still run' : `which runs as process ${first.pid}`;
  return `${first.activation}, ${process}, and is none of those that stand in the records`;
}

/** What an operator looks at, and does, while somebody runs there. */
export function heldApart({ others, target }: Pick<DeployEvidence, 'others' | 'target'>): Required<Held> {
  const first = others.kind === 'seen' ? others.value[0] : undefined;
  const remedy = first === undefined ? 'idunn doctor' : setAsideBy(target.target, first.activation);
  return { incident: 'unrecorded-process', remedy };
}

/** Why nothing was launched; `null` where nobody was seen in its way. */
export function keptApart(e: DeployEvidence): Refusal | null {
  const what = e.others.kind === 'seen' ? runsBeside(e) : null;
  return what === null
    ? null
    : { ...because('unrecorded-process', `Nothing was launched beside ${what}.`), remedy: heldApart(e).remedy };
}

/** Asked before anything is touched: an end that nobody could ever prove would leave the target without either (I7). */
export function unprovableEnd(e: DeployEvidence, bodies: readonly Pick<Body, 'plan' | 'handle'>[]): Refusal | null {
  const odd = bodies.find((body) => !endIsProvable(e, body));
  if (odd === undefined) return null;
  const { activation } = odd.handle;
  return because('fence-not-proven', `${activation} has no control group, and nothing says that it never forks.`);
}
