import type { Plan } from '@idunn/release';
import type { Body, Running } from '../records/body.ts';
import type { Passage, Standing } from '../records/passage.ts';
import type { StateOf, TransactionRecord } from '../records/transaction.ts';
import { awaitDisclosure } from './await-disclosure.ts';
import { claimFor, isOlderThanClaim } from './claim.ts';
import { deadlineMs, isPast } from './deadline.ts';
import { attempt, type Decision, enter, type Strand, together, tolerate } from './decision.ts';
import { echo, writeNonce } from './echo.ts';
import { type DeployEvidence, planOf, slotOf } from './evidence.ts';
import { because, giveUp, late } from './failing.ts';
import { readFreeze } from './freeze.ts';
import { judgeWord } from './judge-word.ts';
import { exited, meetEarly } from './launch.ts';
import {
  heldApart,
  heldBySomebody,
  incumbentsOf,
  keptApart,
  leaseAtHand,
  runsBeside,
  unprovableEnd,
  untakeable,
} from './lease-at-hand.ts';
import { lookAgain } from './look-again.ts';
import { endsFirst, speaksLease } from './manner.ts';
import { memberOf } from './member.ts';
import { observerAway } from './receipt.ts';
import { directionOf } from './restarting-direction.ts';
import { otherThanLaunched } from './sealed.ts';
import { awaitTarget, isRestarting } from './yielding.ts';

interface Warming {
  readonly tx: TransactionRecord;
  readonly e: DeployEvidence;
  readonly state: StateOf<'warming'>;
  readonly launch: Running;
  readonly plan: Plan;
  readonly untilMs: number | null;
  readonly failed: (why: Parameters<typeof giveUp>[2]) => Decision;
}

/** `warming`: everything is prepared while the incumbent serves; then one durable intent begins the handover. */
export function decideWarming(tx: TransactionRecord, e: DeployEvidence, state: StateOf<'warming'>): Decision {
  const { subject, launch } = state;
  if (launch.step !== 'current') throw new Error('a candidate warms only once its activation is current');
  const plan = planOf(e, subject.plan);
  const untilMs = deadlineMs(tx, 'warming', plan);
  const failed = (why: Parameters<typeof giveUp>[2]): Decision => giveUp(e, { subject, launch }, why);
  const at: Warming = { tx, e, state, launch, plan, untilMs, failed };
  if (isPast(e, untilMs)) return failed(lateness(at));
  const back = directionOf(tx, e, subject) === 'back';
  const { process } = slotOf(e, launch.id);
  if (process.kind === 'absent') return failed(exited(launch.id));
  if (process.kind === 'unknown') return lookAgain(at, `the candidate cannot be seen: ${process.because}`);
  const other = otherThanLaunched(e, subject, launch, process.value, back);
  if (other !== null) return failed(other);
  const alone = tx.request.kind === 'continuity';
  const judged = judgeWord(e, plan, launch.id, {
    granted: null,
    alone,
    ...(back ? { brought: launch } : {}),
  });
  if (judged.kind === 'wrong') return failed(judged.why);
  if (judged.kind === 'silent') {
    // An engine that comes after the one that heard it has no connection to it yet (I6, I9).
    return (alone ? meetEarly(e, subject, launch, alone) : null) ?? lookAgain(at, 'a fresh word of the candidate');
  }
  if (!alone) {
    const away = observerAway(e, launch.id);
    if (away !== null) return lookAgain(at, away.reason);
    const undisclosed = awaitDisclosure(e, untilMs);
    if (undisclosed !== null) return undisclosed;
  }
  if (isRestarting(tx, e, endsFirst(e, plan, incumbentsOf(e))))
    return awaitTarget(tx, e, (what) => lookAgain(at, what));
  if (plan.state !== null) return prepareState(at);
  return stageRoute(at, () => intend(at, null));
}

/** What held the handover up, where it has a remedy of its own. */
function lateness({ tx, e, plan, launch: { id } }: Warming) {
  if (e.holder.issued && e.holder.found.kind === 'unknown' && e.holder.found.because !== 'not read') {
    return because('fence-not-proven', `An earlier launch still holds the lease row: ${e.holder.found.because}.`);
  }
  const apart = isOlderThanClaim(e) ? keptApart(e) : null;
  const held = heldBySomebody(tx, e, plan, id) ?? apart ?? observerAway(e, id);
  if (held !== null) return held;
  if (e.rows.kind === 'absent') return because('lease-row-unreadable', 'The stores of the state carry no row.');
  const nonces = Object.keys(e.answers).filter((key) => key.startsWith('write-nonce '));
  return late(e, [`stage-route ${id}`, `open-channel ${id}`, ...nonces], 'The handover could not be prepared in time.');
}

/** The proposed route is rendered and validated before either authority moves (F26). */
function stageRoute(at: Warming, then: () => Decision): Decision {
  const { e, state, plan, launch } = at;
  if (plan.route === null) return then();
  const members = [memberOf(state.subject, launch.document)];
  const effect = { kind: 'stage-route', plan: state.subject.plan, members } as const;
  return attempt(e, effect, { what: 'the proxy to validate the proposed route', ...at }, then);
}

interface Lease {
  readonly row: Standing;
  readonly epoch: number;
  readonly takenOver: boolean;
  /** The holder that lives and could read the nonce back; `null` when the row names nobody who does. */
  readonly holder: Body | null;
}

function prepareState(at: Warming): Decision {
  const { tx, e, plan, launch, failed } = at;
  const lease = leaseAtHand(tx, e, plan, launch.id);
  if (lease.kind === 'refused') return failed(lease.why);
  if (lease.kind === 'held-up') return lookAgain(at, lease.what, lease);
  // Whoever of ours keeps its row in another place would write on (I1).
  const beside = isOlderThanClaim(e) ? runsBeside(e) : null;
  if (beside !== null) return lookAgain(at, beside, heldApart(e));
  const { row, epoch, takenOver } = lease;
  const named = incumbentsOf(e).find(({ document }) => document.activation === row.activation) ?? null;
  const holder = named === null || slotOf(e, named.document.activation).process.kind === 'absent' ? null : named;
  const prepared = { row, epoch, takenOver, holder };
  return prepare(at, prepared, () => intend(at, prepared));
}

/** What can be had before the freeze is read: the staged route, both lease connections, the nonce beside the rows. */
function prepare(at: Warming, lease: Lease, then: () => Decision): Decision {
  const { e, launch } = at;
  const { holder } = lease;
  const asked = { plan: at.state.subject.plan, readers: whoEchoes(at, lease) };
  const candidate = { kind: 'open-channel', handle: launch.handle } as const;
  const strands: Strand[] = [
    (ended) => stageRoute(at, ended),
    (ended) => attempt(e, candidate, { what: 'the candidate’s lease connection', ...at }, ended),
  ];
  if (speaksLease(at.plan)) {
    strands.push((ended) =>
      writeNonce(e, asked, incumbentsOf(e), { what: 'the nonce beside the lease rows', ...at }, ended),
    );
  }
  if (holder !== null && speaksLease(planOf(e, holder.plan))) {
    const incumbent = { kind: 'open-channel', handle: holder.handle } as const;
    // Only the candidate's must stand.
    strands.push((ended) => tolerate(e, incumbent, { what: 'the incumbent’s lease connection', attempts: 3 }, ended));
  }
  return together(strands, then);
}

/**
 * Both sides read the nonce back through their own connections: the proof that they write to the database we fence. The
 * claim is written meanwhile.
 */
function echoesAndClaim(at: Warming, lease: Lease, then: (echoed: readonly string[]) => Decision): Decision {
  const { e, state } = at;
  const echoed: string[] = [];
  const readers = whoEchoes(at, lease);
  const strands = readers.map(
    (id): Strand =>
      (ended) =>
        echo(e, { plan: state.subject.plan, readers }, id, (heard) => {
          if (heard) echoed.push(id);
          return ended();
        }),
  );
  const claim = claimFor(e, state.subject, lease.epoch);
  if (claim !== null) {
    strands.push((ended) => attempt(e, claim, { what: 'the owner claim beside the state', ...at }, ended));
  }
  return together(strands, () => then(echoed));
}

/** Nobody whose program keeps no row, and no one that keeps it in another place. */
function whoEchoes({ e, plan, launch }: Warming, { holder }: Lease): readonly string[] {
  if (!speaksLease(plan)) return [];
  return holder !== null && speaksLease(planOf(e, holder.plan)) ? [launch.id, holder.document.activation] : [launch.id];
}

/** Freeze, claim, take and intent: one compare-and-swap, after which the lease row says where the handover stands. */
function intend(at: Warming, lease: Lease | null): Decision {
  const { tx, e, state, plan, launch } = at;
  const busy = untakeable(tx, e, plan);
  if (busy !== null) return lookAgain(at, busy);
  const incumbents = incumbentsOf(e);
  if (endsFirst(e, plan, incumbents)) {
    const unprovable = unprovableEnd(e, [...incumbents, { plan: state.subject.plan, handle: launch.handle }]);
    if (unprovable !== null) return at.failed(unprovable);
  }
  const passage = (echoed: readonly string[]): Passage => ({
    direction: directionOf(tx, e, state.subject),
    requestId: e.fresh.request,
    successor: { subject: state.subject, launch },
    spent: [],
    relaunches: 0,
    predecessors: incumbents,
    move: lease === null ? null : { from: lease.row, to: { epoch: lease.epoch, activation: launch.id } },
    origin: lease?.row ?? null,
    echoed,
  });
  return readFreeze(tx, e, 'warming', (read) => {
    const intent = (echoed: readonly string[]): Decision =>
      enter(
        { phase: 'incumbent-fenced', passage: passage(echoed), stuck: null },
        {
          entered: [
            plan.state === null ? { phase: 'incumbent-fenced', note: 'not-applicable' } : { phase: 'incumbent-fenced' },
          ],
          ...read,
          clock: 'restart',
          target: { takenBy: tx.id, highestEpoch: lease?.epoch ?? e.target.highestEpoch },
          ...(lease?.takenOver === true ? { extra: [{ kind: 'takeover' as const, id: tx.target, value: null }] } : {}),
        },
      );
    return lease === null ? intent([]) : echoesAndClaim(at, lease, intent);
  });
}
