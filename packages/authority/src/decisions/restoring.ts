import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import { isPhase } from '../model/phase-table.ts';
import type { Passage } from '../records/passage.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { spanEndMs } from './deadline.ts';
import { type Decision, enter, persist, type Wait } from './decision.ts';
import { type DeployEvidence, planOf } from './evidence.ts';
import { aborting, type BeforeFence, because, giveUp, withLastWords } from './failing.ts';
import { admit, type Handover, keep } from './handover.ts';
import { decidePassage, planFor, whereabouts } from './passage.ts';
import { supersede } from './supersede.ts';
import { expiredBy } from './withdrawing.ts';

/** A restart between its begin and its admission: it gives way, is told overdue, and is otherwise like any launch. */
export function decideContinuing(tx: TransactionRecord, e: DeployEvidence, step: () => Decision): Decision {
  const { state } = tx;
  if (tx.withdrawal !== null && 'passage' in state && state.phase !== 'returning' && !isTorn(e, state.passage)) {
    return restored(e, state.passage, expiredBy(tx.withdrawal.actor, state.phase), 'expired');
  }
  const launching = 'launch' in state && state.phase !== 'aborting' ? state : null;
  if (launching !== null && e.target.awaitedBy !== null) {
    return giveUp(e, launching, yielded(e.target.awaitedBy));
  }
  const decision = step();
  return decision.kind === 'wait' ? overdue(tx, e, decision) : decision;
}

const yielded = (to: string): Refusal =>
  because('restart-yielded', `It had not proven its route, and the deployment ${to} takes the target.`);

/**
 * Past the span of its phase a person is told, and its process is left alone: it is the only running copy. Only where
 * the binding says after how long a silent process has failed, it is ended and tried again.
 */
function overdue(tx: TransactionRecord, e: DeployEvidence, waiting: Wait): Decision {
  const { state } = tx;
  if (!isPhase(state.phase) || tx.clock.frozenSince !== null) return waiting;
  const plan = planIn(tx, e);
  const endMs = plan === null ? null : spanEndMs(tx, state.phase, plan);
  if (endMs === null || plan === null) return waiting;
  const nowMs = e.now.monotonicMs;
  if (nowMs < endMs) return { ...waiting, wakeAtMs: Math.min(waiting.wakeAtMs ?? endMs, endMs) };
  const { failedAfterMs } = plan.continuity;
  const failMs = failedAfterMs === null ? null : endMs + failedAfterMs;
  if (failMs !== null && nowMs >= failMs) {
    const why = because(
      'restart-overdue',
      `It was given up after ${Math.round(nowMs - tx.clock.startedAt.monotonicMs)} ms.`,
    );
    if ('passage' in state && state.passage !== null && !isTorn(e, state.passage))
      return restored(e, state.passage, why);
    if ('launch' in state) return giveUp(e, state, why);
  }
  const wakeAtMs = waiting.wakeAtMs ?? failMs;
  return { ...waiting, wakeAtMs, incident: waiting.incident ?? 'restart-overdue' };
}

function planIn({ state }: TransactionRecord, e: DeployEvidence): Plan | null {
  if ('passage' in state && state.passage !== null) return planFor(e, state.passage);
  return 'subject' in state && state.subject !== null ? planOf(e, state.subject.plan) : null;
}

/** `incumbent-fenced` to `route-observed` of a restart: forward for ever, by one transaction for each launch. */
export function decideRestoring(tx: TransactionRecord, e: DeployEvidence, state: Handover): Decision {
  const { passage } = state;
  const plan = planFor(e, passage);
  const { awaitedBy } = e.target;
  // A restart whose proxy was seen to serve it has proven its route and stays.
  if (
    awaitedBy !== null &&
    !isTorn(e, passage) &&
    e.answers['confirm'] === undefined &&
    e.marks.reached['route-observed'] === undefined
  ) {
    const where = whereabouts(e, passage);
    return supersede(e, state, passage, where, yielded(awaitedBy), plan.deadlines.stopMs, 'aborted');
  }
  return decidePassage({
    tx,
    e,
    passage,
    plan,
    untilMs: null,
    persistent: true,
    ended: (why) => restored(e, passage, why),
    keep: (next, more = {}) => keep(tx, e, state, next, more),
    giveUp: (why) => restored(e, passage, why),
    arrived: () => persist({ ...state, phase: 'route-observed' }),
    confirmed: (epoch, seen) => admit(tx, e, state, epoch, seen),
  });
}

/** A move between several stores that has begun is ended before anything else: no other reads half of it. */
function isTorn(e: DeployEvidence, passage: Passage): boolean {
  const { at } = whereabouts(e, passage);
  return at === 'moving' || at === 'unreadable';
}

/** This launch is over: it is cleared away, the target is free, and continuity launches anew when that is due. */
function restored(e: DeployEvidence, passage: Passage, why: Refusal, outcome?: BeforeFence): Decision {
  const { subject, launch } = passage.successor;
  return withLastWords(e, launch, why, (told) =>
    enter(aborting({ subject, launch, withdraw: null }, told, outcome), {
      entered: [{ phase: 'aborting', note: told.code }],
      clock: 'restart',
      target: { takenBy: null },
    }),
  );
}
