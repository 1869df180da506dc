import type { WorkloadHandle } from '../ports/workload-port.ts';
import type { Move, Passage } from '../records/passage.ts';
import { act, attempt, type Decision, retryDelayMs, tolerate, wait } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo, type DeployEvidence, slotOf } from './evidence.ts';
import type { PassageFrame } from './passage-frame.ts';

/** Hold, relinquish, prove, swap: polite first, and certain in the end. One commit is fence and grant (I1). */
export function decideFence(f: PassageFrame): Decision {
  const { passage, plan } = f;
  if (passage.move === null || plan.state === null) throw new Error('only a target with state is fenced');
  const { move } = passage;
  const holder = move.from.activation;
  if (holder === null) return swap(f, move);
  return holdRoute(f, () => relinquish(f, move, holder, () => prove(f, move, holder)));
}

/**
 * New requests wait in the router while the lease moves; a router that cannot hold costs 503s, not safety. The holder
 * is asked only then: until the router holds it would reject, one by one, what the router has to send again.
 */
function holdRoute({ e, plan }: PassageFrame, then: () => Decision): Decision {
  if (plan.route === null) return then();
  const effect = { kind: 'hold-route', route: plan.route.name, termMs: plan.route.holdMs } as const;
  return tolerate(e, effect, { what: 'the router to hold new requests', attempts: 1 }, then);
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
 * The epoch alone fences only between two that both read the nonce back through their own connections, and only where
 * every store carries the row. One that is gone may have read it when it took the lease; an owner that was taken over
 * is gone by the operator's typed word. Everything else is fenced by its whole tree seen gone.
 */
function prove(f: PassageFrame, move: Move, holder: string): Decision {
  const { e, passage, plan } = f;
  const body = passage.predecessors.find(({ document }) => document.activation === holder);
  const spent = passage.spent.includes(holder);
  const raise = (): Decision => swap(f, move);
  const rowsOnly = plan.state?.stores.every(({ kind }) => kind === 'sqlite') === true;
  if (rowsOnly && body === undefined && !spent && !e.holder.issued) return raise();
  if (!rowsOnly || !passage.echoed.includes(passage.successor.launch.id)) return treeGone(f, holder, raise);
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
    graceMs: plan.deadlines.relinquishMs,
  };
  const what = `every process of ${holder} to be gone`;
  return attempt(e, effect, { what, untilMs, failed: () => again(e, effect, what, untilMs) }, (answer) =>
    answer.kind === 'gone' ? then() : again(e, effect, `${what}: ${answer.kind}`, untilMs),
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
  const what = 'the lease row to move';
  return attempt(e, effect, { what, untilMs, failed: () => again(e, effect, what, untilMs) }, (answer) => {
    switch (answer.kind) {
      case 'swapped':
      case 'differs':
      case 'unknown': // The rows are read again first; where they did not move, the same move is made again.
        return again(e, effect, what, untilMs);
      case 'busy':
        return holdingOn(f, move, effect, answer.store);
    }
  });
}

/** A fenced process that holds the database has its tree killed before the move is tried again. */
function holdingOn(f: PassageFrame, move: Move, effect: EffectOf<'swap'>, store: string): Decision {
  const { e, untilMs } = f;
  const what = `the database of store ${store}, which somebody holds`;
  if (move.from.activation === null) return again(e, effect, what, untilMs);
  return treeGone(f, move.from.activation, () => again(e, effect, what, untilMs));
}

function again(
  e: DeployEvidence,
  effect: EffectOf<'swap'> | EffectOf<'end-process'>,
  what: string,
  untilMs: number | null,
): Decision {
  const last = answerTo(e, effect);
  const dueMs = last === undefined ? e.now.monotonicMs : last.atMs + retryDelayMs(last.attempts);
  if (e.now.monotonicMs >= dueMs) return act(effect);
  return wait(what, 'idunn doctor; after the deadline the handover is given up', { untilMs, wakeAtMs: dueMs });
}

const handleOf = (passage: Passage, activation: string): WorkloadHandle | null =>
  passage.predecessors.find(({ document }) => document.activation === activation)?.handle ?? null;
