import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { Passage, Standing } from '../records/passage.ts';
import type { StateOf, TransactionRecord } from '../records/transaction.ts';
import { awaitDisclosure } from './await-disclosure.ts';
import { claimFor } from './claim.ts';
import { attempt, type Decision, enter } from './decision.ts';
import { type DeployEvidence, planOf } from './evidence.ts';
import { readFreeze } from './freeze.ts';
import { heldApart, incumbentsOf, leaseAtHand, runsBeside, unprovableEnd, untakeable } from './lease-at-hand.ts';
import { lookAgain } from './look-again.ts';
import { standsAlone } from './manner.ts';
import { observerAway } from './receipt.ts';
import { directionOf } from './restarting-direction.ts';
import { awaitTarget, isRestarting } from './yielding.ts';

/**
 * There is somebody to stop first, or somebody whom our records do not know runs or holds the lease, beside whom
 * nothing may start. A first deployment has nobody, and goes as any other.
 */
export const stopsFirst = (e: DeployEvidence, plan: Plan): boolean =>
  standsAlone(plan) && (incumbentsOf(e).length > 0 || isHeldBySomebody(e) || runsBeside(e) !== null);

const isHeldBySomebody = ({ rows }: DeployEvidence): boolean =>
  rows.kind === 'seen' && Object.values(rows.value).some(({ activation }) => activation !== null);

interface Stopping {
  readonly tx: TransactionRecord;
  readonly e: DeployEvidence;
  readonly state: StateOf<'activation-issued'>;
  readonly plan: Plan;
  readonly untilMs: number | null;
  readonly failed: (why: Refusal) => Decision;
}

/**
 * `activation-issued` of a target that cannot overlap: everything that can be asked or prepared while the incumbent
 * serves, then freeze, take and intent in one compare-and-swap. The incumbent ends inside the passage, and the
 * candidate is minted and launched once it was seen gone.
 */
export function decideStop(
  tx: TransactionRecord,
  e: DeployEvidence,
  state: StateOf<'activation-issued'>,
  more: Pick<Stopping, 'untilMs' | 'failed'>,
): Decision {
  const plan = planOf(e, state.subject.plan);
  const at: Stopping = { tx, e, state, plan, ...more };
  const unprovable = unprovableEnd(e, incumbentsOf(e));
  if (unprovable !== null) return at.failed(unprovable);
  // What serves is not stopped for a build that nobody could call Ready.
  const away = observerAway(e, state.launch.id);
  if (away !== null) return lookAgain(at, away.reason);
  const undisclosed = awaitDisclosure(e, at.untilMs);
  if (undisclosed !== null) return undisclosed;
  if (isRestarting(tx, e, true)) return awaitTarget(tx, e, (what) => lookAgain(at, what));
  const busy = untakeable(tx, e, plan);
  if (busy !== null) return lookAgain(at, busy);
  if (plan.state === null) return intend(at, null);
  // Rows of a store that joins the state exist before anything is read from them.
  const prepared = { kind: 'prepare-lease', plan: state.subject.plan } as const;
  return attempt(e, prepared, { what: 'the lease rows', ...at }, () => {
    const lease = leaseAtHand(tx, e, plan, state.launch.id);
    if (lease.kind === 'refused') return at.failed(lease.why);
    if (lease.kind === 'held-up') return lookAgain(at, lease.what, lease);
    return intend(at, lease);
  });
}

/** The move is intended once the candidate warms; until then the row stays as it stands. */
function intend(
  at: Stopping,
  lease: { readonly row: Standing; readonly epoch: number; readonly takenOver: boolean } | null,
): Decision {
  const { tx, e, state, plan } = at;
  const beside = runsBeside(e);
  if (beside !== null) return lookAgain(at, beside, heldApart(e));
  const passage: Passage = {
    direction: directionOf(tx, e, state.subject),
    requestId: e.fresh.request,
    successor: { subject: state.subject, launch: state.launch },
    spent: [],
    relaunches: 0,
    predecessors: incumbentsOf(e),
    move: lease === null ? null : { from: lease.row, to: lease.row },
    origin: lease?.row ?? null,
    echoed: [],
  };
  return readFreeze(tx, e, 'activation-issued', (read) => {
    const note = plan.state === null ? { note: 'not-applicable' } : {};
    const intent = (): Decision =>
      enter(
        { phase: 'incumbent-fenced', passage, stuck: null },
        {
          entered: [{ phase: 'incumbent-fenced', ...note }],
          ...read,
          clock: 'restart',
          target: { takenBy: tx.id, highestEpoch: lease?.epoch ?? e.target.highestEpoch },
          ...(lease?.takenOver === true ? { extra: [{ kind: 'takeover' as const, id: tx.target, value: null }] } : {}),
        },
      );
    const claim = lease === null ? null : claimFor(e, state.subject, lease.epoch);
    if (claim === null) return intent();
    return attempt(e, claim, { what: 'the owner claim beside the state', ...at }, intent);
  });
}
