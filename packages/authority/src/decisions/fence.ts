import type { Refusal } from '@idunn/kernel';
import type { WorkloadHandle } from '../ports/workload-port.ts';
import type { Move, Passage } from '../records/passage.ts';
import { type Decision, insist, repeat, together, tolerate } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { planOf, slotOf } from './evidence.ts';
import { exited } from './launch.ts';
import { passageEndsFirst, speaksLease } from './manner.ts';
import type { PassageFrame } from './passage-frame.ts';
import { holdRoute, letFinish } from './route-hold.ts';
import { otherThanLaunched } from './sealed.ts';

const REMEDY = 'idunn doctor; after the deadline the handover is given up';

/** Hold, relinquish, prove, swap: polite first, and certain in the end. One commit is fence and grant (I1). */
export function decideFence(f: PassageFrame, died: (why: Refusal) => Decision): Decision {
  const { passage, plan } = f;
  if (passage.move === null || plan.state === null) throw new Error('only a target with state is fenced');
  const { move } = passage;
  const holder = move.from.activation;
  const granting = (): Decision => swap(f, move);
  if (passageEndsFirst(f.e, passage)) return stopPredecessors(f, () => atItsGate(f, died, granting));
  if (holder === null) return swap(f, move);
  return holdRoute(f, () => relinquish(f, move, holder, () => prove(f, move, holder)));
}

/** A gated start that did not wait for its grant is granted nothing: seen once more before the row moves (I1). */
function atItsGate(f: PassageFrame, died: (why: Refusal) => Decision, then: () => Decision): Decision {
  const { subject, launch } = f.passage.successor;
  if (launch.step !== 'current' || launch.observed.gate !== 'waiting') return then();
  const effect = { kind: 'observe-process', handle: launch.handle, release: subject.release } as const;
  const what = `${launch.id} to wait at its gate`;
  return insist(f.e, effect, { what, remedy: REMEDY, untilMs: f.untilMs }, (observed) => {
    if (observed === null) return died(exited(launch.id));
    // Once the row has moved it is asked for what it runs, and this answer is no longer looked at.
    const other = otherThanLaunched(f.e, subject, launch, observed, f.passage.direction === 'back');
    return other === null ? then() : died(other);
  });
}

/**
 * Everything that may still run of this target is seen gone, each with its whole tree: what the passage displaces, what
 * ended inside it, and whoever else the row names. Nothing to wait for where it ends at once (F15, F25).
 */
export function stopPredecessors(f: PassageFrame, then: () => Decision): Decision {
  const { e, passage } = f;
  const { predecessors, spent, move, successor } = passage;
  const named = [...predecessors.map(({ document }) => document.activation), ...spent, move?.from.activation ?? null];
  const ids = [...new Set(named)].filter((id) => id !== null && id !== successor.launch.id) as string[];
  const gone = (): Decision =>
    together(
      ids.map((id) => (ended) => treeGone(f, id, ended)),
      then,
    );
  const polite = predecessors.find(
    ({ document, plan }) => document.activation === move?.from.activation && speaksLease(planOf(e, plan)),
  );
  return holdRoute(f, () =>
    polite === undefined || move === null
      ? letFinish(f, gone)
      : relinquish(f, move, polite.document.activation, () => letFinish(f, gone)),
  );
}

/** Without an answer in time the move is made all the same. */
function relinquish(f: PassageFrame, move: Move, holder: string, then: () => Decision): Decision {
  const { e, passage, plan } = f;
  if (slotOf(e, holder).process.kind === 'absent' || handleOf(passage, holder) === null) return then();
  const termMs = plan.deadlines.relinquishMs;
  const { requestId } = passage;
  const withinMs = Math.ceil(termMs / 2);
  const effect = {
    kind: 'relinquish',
    activation: holder,
    requestId,
    epoch: move.from.epoch,
    termMs,
    withinMs,
  } as const;
  return tolerate(e, effect, { what: `${holder} to finish its writes`, attempts: 1 }, then);
}

/**
 * The epoch alone fences only between two that both read the nonce back through their own connections. One that is
 * gone may have read it when it took the lease; an owner that was taken over is gone by the operator's typed word.
 * Everything else is fenced by its whole tree seen gone.
 */
function prove(f: PassageFrame, move: Move, holder: string): Decision {
  const { e, passage, plan } = f;
  const body = passage.predecessors.find(({ document }) => document.activation === holder);
  const spent = passage.spent.includes(holder);
  const raise = (): Decision => swap(f, move);
  if (body === undefined && !spent && !e.holder.issued) return raise();
  if (!passage.echoed.includes(passage.successor.launch.id)) return treeGone(f, holder, raise);
  const gone = spent || slotOf(e, holder).process.kind === 'absent';
  if (!gone) return passage.echoed.includes(holder) ? raise() : treeGone(f, holder, raise);
  if (!passage.echoed.includes(holder) && body?.echoed !== true) return treeGone(f, holder, raise);
  const handle = body?.handle ?? null;
  const what = `what is left of ${holder} to be gone`;
  const graceMs = plan.deadlines.relinquishMs;
  return tolerate(e, { kind: 'end-process', activation: holder, handle, graceMs }, { what, attempts: 1 }, raise);
}

/** The whole tree of the holder seen gone. A process without such a proof fences nobody (I10). */
function treeGone(f: PassageFrame, holder: string, then: () => Decision): Decision {
  const { e, passage, plan, untilMs } = f;
  const effect: EffectOf<'end-process'> = {
    kind: 'end-process',
    activation: holder,
    handle: handleOf(passage, holder),
    graceMs: plan.state === null ? plan.deadlines.stopMs : plan.deadlines.relinquishMs,
  };
  const what = `every process of ${holder} to be gone`;
  return insist(e, effect, { what, remedy: REMEDY, untilMs }, (answer) =>
    answer.kind === 'gone' ? then() : repeat(e, effect, { what: `${what}: ${answer.kind}`, remedy: REMEDY, untilMs }),
  );
}

function swap(f: PassageFrame, move: Move): Decision {
  const { e, passage, plan, untilMs } = f;
  if (plan.state === null) throw new Error('only a target with state has a row to move');
  const { subject } = passage.successor;
  const effect: EffectOf<'swap'> = {
    kind: 'swap',
    plan: subject.plan,
    move,
    release: subject.release,
    stateSchema: plan.state.schema,
    deadlineMs: plan.deadlines.relinquishMs,
  };
  const persistence = { what: 'the lease row to move', remedy: REMEDY, untilMs };
  return insist(e, effect, persistence, (answer) => {
    switch (answer.kind) {
      case 'swapped':
      case 'differs':
      case 'unknown': // The rows are read again first; where they did not move, the same move is made again.
        return repeat(e, effect, persistence);
      case 'busy':
        return holdingOn(f, move, effect, answer.store);
    }
  });
}

/** A fenced process that holds the database has its tree killed before the move is tried again. */
function holdingOn(f: PassageFrame, move: Move, effect: EffectOf<'swap'>, store: string): Decision {
  const { e, untilMs } = f;
  const what = `the database of store ${store}, which somebody holds`;
  const moved = (): Decision => repeat(e, effect, { what, remedy: REMEDY, untilMs });
  return move.from.activation === null ? moved() : treeGone(f, move.from.activation, moved);
}

const handleOf = (passage: Passage, activation: string): WorkloadHandle | null =>
  passage.predecessors.find(({ document }) => document.activation === activation)?.handle ?? null;
