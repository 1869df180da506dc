import type { TransactionRecord } from '../records/transaction.ts';
import { type Decision, persist } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { isRestart, readFreeze } from './freeze.ts';

/**
 * A restart that is not this transaction stands before it: it owns the target, or it was given up and is not cleared
 * away yet, and where `endsFirst` nothing may be launched or granted beside what may still run of it (I1).
 */
export function isRestarting(
  tx: TransactionRecord,
  { target: { restart, takenBy } }: DeployEvidence,
  endsFirst: boolean,
): boolean {
  if (restart === null || restart === tx.id) return false;
  return takenBy === restart || (endsFirst && takenBy === null);
}

/**
 * A deployment that is ready to take the target says so, if no freeze holds it: a restart that has not proven its route
 * then gives way (F22). An operator's restart waits for the one at work.
 */
export function awaitTarget(tx: TransactionRecord, e: DeployEvidence, lookAgain: (what: string) => Decision): Decision {
  const { takenBy, restart } = e.target;
  const owner = takenBy === null ? `${restart}, which is being cleared away` : `${takenBy}, which owns the target`;
  if (isRestart(tx) || e.target.awaitedBy === tx.id) return lookAgain(owner);
  return readFreeze(tx, e, 'warming', () => persist(tx.state, { target: { awaitedBy: tx.id } }));
}
