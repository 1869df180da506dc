import { act, type Decision, tolerate } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo, type DeployEvidence } from './evidence.ts';
import { passageEndsFirst } from './manner.ts';
import type { PassageFrame } from './passage-frame.ts';

const holdOf = ({ plan }: PassageFrame): EffectOf<'hold-route'> | null =>
  plan.route === null ? null : { kind: 'hold-route', route: plan.route.name, termMs: plan.route.holdMs };

/**
 * New requests wait in the router while the lease moves; a router that cannot hold costs 503s, not safety. The holder
 * is asked only then: until the router holds it would reject, one by one, what the router has to send again.
 */
export function holdRoute(f: PassageFrame, then: () => Decision): Decision {
  const effect = holdOf(f);
  if (effect === null) return then();
  const held = answerTo(f.e, effect);
  // A route that was published since holds nobody any more.
  if (held?.outcome.ok === true && wasLetGo(f.e, held.atMs)) return act(effect);
  return tolerate(f.e, effect, { what: 'the router to hold new requests', attempts: 1 }, then);
}

/**
 * Where the incumbent ends first, the gap lasts as long as the candidate's start: the hold is renewed, so that a
 * request which comes late is held as long as one that came first. A daemon that dies renews nothing: its hold ends.
 */
export function keepHolding(f: PassageFrame, decision: Decision): Decision {
  const effect = holdOf(f);
  if (decision.kind !== 'wait' || effect === null || f.untilMs === null) return decision;
  if (!passageEndsFirst(f.e, f.passage)) return decision;
  const held = answerTo(f.e, effect);
  if (held?.outcome.ok !== true || wasLetGo(f.e, held.atMs)) return decision;
  const dueMs = held.atMs + Math.max(1, Math.floor(effect.termMs / 2));
  if (f.e.now.monotonicMs < dueMs) return { ...decision, wakeAtMs: Math.min(decision.wakeAtMs ?? dueMs, dueMs) };
  return decision.reached === undefined ? act(effect) : { ...act(effect), reached: decision.reached };
}

const wasLetGo = (e: DeployEvidence, sinceMs: number): boolean =>
  Object.values(e.answers).some(({ effect, atMs }) => effect.kind === 'publish-route' && atMs >= sinceMs);

/** How long requests at hand may take before the one that serves them is ended; a longer one is cut. */
const FINISH_MS = 500;
const LOOK_MS = 10;

/** New requests are held: those that the predecessors are serving are let finish, for a moment (I12). */
export function letFinish(f: PassageFrame, then: () => Decision): Decision {
  const { e, passage } = f;
  const effect = holdOf(f);
  const held = effect === null ? undefined : answerTo(e, effect);
  if (effect === null || held?.outcome.ok !== true) return then();
  const untilMs = held.atMs + Math.min(FINISH_MS, Math.floor(effect.termMs / 2));
  const lapsedMs = held.atMs + effect.termMs;
  const open = passage.predecessors.filter(({ document }) => !isEnded(e, document.activation));
  for (const { incarnation } of open) {
    const asked: EffectOf<'in-flight'> = { kind: 'in-flight', route: effect.route, incarnation };
    const answered = answerTo(e, asked);
    const isTold = answered !== undefined && answered.atMs >= held.atMs;
    // Its term may be over before anybody is ended, and new requests are let in: they are held again, but for a proxy
    // that takes as long over its answer.
    if (e.now.monotonicMs >= lapsedMs && !(isTold && answered.atMs >= lapsedMs)) return act(effect);
    if (!isTold) return act(asked);
    if (answered.outcome.ok && answered.outcome.value === 0) continue;
    if (e.now.monotonicMs >= untilMs) continue;
    const dueMs = answered.atMs + LOOK_MS;
    if (e.now.monotonicMs >= dueMs) return act(asked);
    return {
      kind: 'wait',
      what: `the requests that ${incarnation} is serving`,
      remedy: 'they are cut at the deadline',
      untilMs,
      wakeAtMs: Math.min(dueMs, untilMs),
    };
  }
  return then();
}

/** It was asked to end, or is gone: nobody waits for its requests. */
const isEnded = (e: DeployEvidence, activation: string): boolean =>
  [...e.running, ...Object.keys(e.answers)].includes(`end-process ${activation}`) ||
  e.slots[activation]?.process.kind === 'absent';
