import type { Subject } from '../records/body.ts';
import type { Passage } from '../records/passage.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { DeployEvidence } from './evidence.ts';

/**
 * What was admitted, brought back from its own death, needs no new Ready: its receipt is kept, and health is its own
 * word (I4). Everything else goes forward.
 */
export function directionOf(tx: TransactionRecord, e: DeployEvidence, subject: Subject): Passage['direction'] {
  const same = e.target.admitted?.incarnation === subject.incarnation;
  return tx.request.kind === 'continuity' && same ? 'back' : 'forward';
}
