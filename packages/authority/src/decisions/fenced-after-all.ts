import type { Passage } from '../records/passage.ts';
import type { StateOf, TransactionRecord } from '../records/transaction.ts';
import { LOOK_AGAIN_MS } from './deadline.ts';
import { type Decision, wait } from './decision.ts';
import { type DeployEvidence, planOf } from './evidence.ts';
import { leaseStaysPut, returning, whyBarred } from './handover.ts';
import { incumbentsOf, untakeable } from './lease-at-hand.ts';
import { readRows } from './rows.ts';
import { isRestarting } from './yielding.ts';

/**
 * The row names a candidate that no intent of ours was to grant it: it wrote the row itself, or our records are older
 * than what was granted since. Once that is gone the lease goes back as after any fence, for the row says where it
 * stands: an incumbent would be refused by its own stores for ever. `null`: the row does not name it.
 */
export function fencedAfterAll(tx: TransactionRecord, e: DeployEvidence, state: StateOf<'aborting'>): Decision | null {
  const { subject, launch, gone } = state;
  if (!gone || subject === null || launch === null || tx.request.kind === 'continuity') return null;
  if (e.rows.kind !== 'seen') return null;
  const reading = readRows(e.rows.value, null);
  if (reading.kind !== 'uniform' || reading.standing.activation !== launch.id) return null;
  const { standing } = reading;
  const passage: Passage = {
    direction: 'forward',
    requestId: e.fresh.request,
    successor: { subject, launch },
    spent: [],
    relaunches: 0,
    predecessors: incumbentsOf(e),
    move: { from: standing, to: standing },
    origin: { epoch: 0, activation: null },
    echoed: [],
  };
  // In a place that the lease has left since the row names whom it named last: who holds it now is above that (I5, I7).
  const isLeft = passage.predecessors.some(
    (body) => !leaseStaysPut(e, passage, body) && (body.epoch ?? 0) > standing.epoch,
  );
  if (isLeft || whyBarred(e, passage) !== null) return null;
  const busy = isRestarting(tx, e, true)
    ? `${e.target.restart}, a restart`
    : untakeable(tx, e, planOf(e, subject.plan));
  // It may wait for a person itself: for whoever lives and stands in no record that was put back.
  const remedy = `it ends by itself, unless idunn incidents ${tx.target} shows what a person is waited for`;
  if (busy !== null) return wait(busy, remedy, { wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS });
  return returning(e, passage, state.why, { takenBy: tx.id });
}
