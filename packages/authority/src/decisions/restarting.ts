import { subjectOf } from '../records/body.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { issue } from './candidate.ts';
import { LOOK_AGAIN_MS } from './deadline.ts';
import { conclude, type Decision, wait } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';
import { readFreeze } from './freeze.ts';

/** The operator's restart: what holds the lease, or is admitted, is launched once more and handed over to (I9). */
export function decideRestart(tx: TransactionRecord, e: DeployEvidence): Decision {
  const body = e.target.stranded ?? e.target.admitted;
  if (body === null) {
    const refusal = because('nothing-to-restart', `Nothing of ${tx.target} is admitted.`);
    return conclude(tx.state, 'rejected', { incarnation: null, revision: null, refusal });
  }
  if (e.target.takenBy !== null || e.target.restart !== null) {
    return wait(`${e.target.takenBy ?? e.target.restart}, which restarts the target already`, 'it ends by itself', {
      wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
    });
  }
  return readFreeze(tx, e, 'planned', (read) => ({ ...issue(tx, e, subjectOf(body)), ...read }));
}
