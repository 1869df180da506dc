import type { Refusal } from '@idunn/kernel';
import { subjectOf } from '../records/body.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { issue } from './candidate.ts';
import { deadlineMs, isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { conclude, type Decision, wait } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';
import { readFreeze } from './freeze.ts';

/** The operator's restart: what holds the lease, or is admitted, is launched once more and handed over to (I9). */
export function decideRestart(tx: TransactionRecord, e: DeployEvidence): Decision {
  const body = e.target.stranded ?? e.target.admitted;
  const reject = (why: Refusal): Decision =>
    conclude(tx.state, 'rejected', { incarnation: null, revision: null, refusal: why });
  if (body === null) return reject(because('nothing-to-restart', `Nothing of ${tx.target} is admitted.`));
  const other = e.target.takenBy ?? e.target.restart;
  if (other !== null) {
    // Continuity's own goes on for ever, and whoever is queued behind this one is not to wait as long (F2).
    const untilMs = deadlineMs(tx, 'planned', null);
    if (isPast(e, untilMs)) {
      const remedy = 'idunn incidents shows what it waits on; run idunn restart again when that has ended.';
      return reject({ ...because('phase-deadline', `${other} restarts the target already, and goes on.`), remedy });
    }
    return wait(`${other}, which restarts the target already`, 'idunn incidents, for what that one waits on', {
      untilMs,
      wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
    });
  }
  return readFreeze(tx, e, 'planned', (read) => ({ ...issue(tx, e, subjectOf(body)), ...read }));
}
