import type { Standing } from '../records/passage.ts';
import { isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { act, type Decision, retryDelayMs, wait } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo, type DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';
import { setAsideBy, strangerHolds } from './lease-at-hand.ts';
import { readRows } from './rows.ts';
import type { TakeoverFrame } from './takeover-frame.ts';

/** An activation in the target's way, and the epoch under which the lease row names it. */
interface Stranger {
  readonly activation: string;
  readonly epoch: number | null;
}

/**
 * An activation that no record explains holds the lease, under a claim that is ours, or runs where none of ours is to:
 * whatever runs under it is ended, and once every process is seen gone it counts as a launch of ours that is over. A
 * row is moved by whoever takes it next, under an intent and the next epoch (I1).
 */
export function decideSetAside(at: TakeoverFrame): Decision {
  const { tx, e, plan, confirm, done } = at;
  if (plan.state !== null && e.rows.kind === 'unknown') return unread(at, 'lease-row-unreadable', e.rows.because);
  const named = plan.state === null ? null : namedIn(e);
  const holder = named !== null && isStranger(e, named) ? [named] : [];
  const running = e.others.kind === 'seen' ? e.others.value : [];
  const strangers: readonly Stranger[] = [...holder, ...running.map(({ activation }) => ({ activation, epoch: null }))];
  const isChosen = strangers.some(({ activation }) => activation === confirm);
  // What this takeover has ended runs no more, and is seen as ours where it was minted here.
  if (!isChosen && endOf(at).answer?.kind !== 'gone') {
    return e.others.kind === 'unknown' ? unread(at, 'evidence-unknown', e.others.because) : refuse(at, strangers);
  }
  const { actor, tenant, target } = tx;
  const epoch = named?.activation === confirm ? named.epoch : null;
  const about = { activation: confirm, target, actor, tenant, epoch, transaction: tx.id, at: e.now };
  return ended(at, () => done({ kind: 'set-aside', id: confirm, value: { schema: 'idunn.set-aside/v1', ...about } }));
}

/** Nothing has changed: nobody stands there, or somebody else does (F21). */
function refuse({ tx, confirm, reject }: TakeoverFrame, [first]: readonly Stranger[]): Decision {
  const { target } = tx;
  if (first === undefined) {
    return reject(because('nothing-to-take-over', `Nobody stands in the way of ${target} whom no record knows.`));
  }
  const { activation, epoch } = first;
  const how =
    epoch === null ? `${activation} runs` : `The lease row of ${target} names ${activation} at epoch ${epoch}`;
  const why = because('takeover-not-confirmed', `${how}; "${confirm}" does not name it.`);
  return reject({ ...why, remedy: setAsideBy(target, activation) });
}

/** Whom every row names; `null`: nobody, or not the same one. */
function namedIn({ rows }: DeployEvidence): (Stranger & Standing) | null {
  const reading = rows.kind === 'seen' ? readRows(rows.value, null) : null;
  if (reading?.kind !== 'uniform' || reading.standing.activation === null) return null;
  const { activation, epoch } = reading.standing;
  return { activation, epoch };
}

/** Nobody who is at work, admitted or seen gone: the row may name what a restart of continuity has just launched. */
const isStranger = (e: DeployEvidence, row: Standing): boolean =>
  strangerHolds(e, row, false) !== null && !(e.holder.issued && e.target.takenBy !== null);

function unread(
  { tx, e, untilMs, reject }: TakeoverFrame,
  code: 'lease-row-unreadable' | 'evidence-unknown',
  why: string,
): Decision {
  const what = code === 'evidence-unknown' ? `what runs of ${tx.target}` : 'the lease rows';
  if (isPast(e, untilMs)) return reject(because(code, `It could not be seen ${what}: ${why}.`));
  const incident = code === 'evidence-unknown' ? undefined : code;
  return wait(`${what}: ${why}`, 'idunn doctor', { untilMs, wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS, incident });
}

/** Every process of it seen gone, and nothing less: what cannot be proven is not taken over (I1, I10). */
function ended(at: TakeoverFrame, then: () => Decision): Decision {
  const { e, confirm, untilMs, reject } = at;
  const { effect, answered, answer } = endOf(at);
  if (answered === undefined) return act(effect);
  if (answer?.kind === 'gone') return then();
  const why = answer?.kind === 'unknown' ? `: ${answer.because}` : '';
  const what = `every process of ${confirm} to be seen gone${why}`;
  if (isPast(e, untilMs)) return reject(because('fence-not-proven', `It was waited for ${what}.`));
  const dueMs = answered.atMs + retryDelayMs(answered.attempts);
  if (e.now.monotonicMs >= dueMs) return act(effect);
  return wait(what, 'idunn doctor', { untilMs, wakeAtMs: dueMs, incident: 'fence-not-proven' });
}

function endOf({ e, plan, confirm }: TakeoverFrame) {
  const { stopMs: graceMs } = plan.deadlines;
  const effect: EffectOf<'end-process'> = { kind: 'end-process', activation: confirm, handle: null, graceMs };
  const answered = answerTo(e, effect);
  return { effect, answered, answer: answered?.outcome.ok === true ? answered.outcome.value : null };
}
