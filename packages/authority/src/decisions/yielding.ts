import type { TransactionRecord } from '../records/transaction.ts';
import { type Decision, persist } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { isRestart, readFreeze } from './freeze.ts';

/** Continuity owns the target, with a restart that is not this transaction. */
export const isRestarting = (tx: TransactionRecord, { target }: DeployEvidence): boolean =>
  target.takenBy !== null && target.takenBy === target.restart && target.takenBy !== tx.id;

/**
 * A deployment that is ready to take the target says so, if no freeze holds it: a restart that has not proven its route
 * then gives way (F22). An operator's restart waits for the one at work.
 */
export function awaitTarget(tx: TransactionRecord, e: DeployEvidence, lookAgain: (what: string) => Decision): Decision {
  const owner = `${e.target.takenBy}, which owns the target`;
  if (isRestart(tx) || e.target.awaitedBy === tx.id) return lookAgain(owner);
  return readFreeze(tx, e, 'warming', () => persist(tx.state, { target: { awaitedBy: tx.id } }));
}
