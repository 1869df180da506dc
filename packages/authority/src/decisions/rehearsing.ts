import type { Plan } from '@idunn/release';
import type { Subject } from '../records/body.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { deadlineMs, isPast } from './deadline.ts';
import { attempt, type Decision } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { because, giveUp } from './failing.ts';

/**
 * A gated program is tried on a copy of its state before anything about it is published: a build that cannot start is
 * refused without a trace, and no incumbent is stopped for its sake (I7). Begun again after a crash or a reboot.
 */
export function rehearse(
  tx: TransactionRecord,
  e: DeployEvidence,
  { plan, subject }: { readonly plan: Plan; readonly subject: Subject },
  then: (foreignMs: number) => Decision,
): Decision {
  if (plan.rehearsal === null) return then(0);
  const untilMs = deadlineMs(tx, 'sealed', plan);
  const failed = (why: Parameters<typeof giveUp>[2]): Decision => giveUp(e, { subject, launch: null }, why);
  const effect = { kind: 'rehearse', subject } as const;
  // What has passed by now stands, however long a freeze held it up.
  if (e.answers['rehearse']?.outcome.ok !== true && isPast(e, untilMs)) {
    return failed(because('phase-deadline', 'The rehearsal did not end in time.'));
  }
  const seconds = Math.round(plan.rehearsal.timeoutMs / 1_000);
  const what = `the rehearsal on a copy of the state; the build is refused unless it is well within ${seconds} s`;
  return attempt(e, effect, { what, untilMs, impatient: true, failed }, ({ tookMs }) => then(tookMs));
}
