import type { Plan } from '@idunn/release';
import type { Standing } from '../records/passage.ts';
import { isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { act, type Decision, retryDelayMs, wait } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo, type DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';
import { strangerHolds } from './lease-at-hand.ts';
import { readRows } from './rows.ts';
import type { TakeoverFrame } from './takeover-frame.ts';

/**
 * The lease row names an activation that no record explains, under a claim that is ours: whatever runs under it is
 * ended, and once every process is seen gone it counts as a launch of ours that is over. The row itself is moved by
 * whoever takes it next, under an intent and the next epoch (I1).
 */
export function decideSetAside(at: TakeoverFrame): Decision {
  const { tx, e, confirm, reject, done } = at;
  if (e.rows.kind === 'unknown') return unread(at, e.rows.because);
  const row = strangerIn(at);
  if (row === null) {
    const nobody = `No foreign claim lies beside the state of ${tx.target}, and its row names nobody unknown.`;
    return reject(because('nothing-to-take-over', nobody));
  }
  const { activation, epoch } = row;
  if (confirm !== activation) {
    const named = `The lease row of ${tx.target} names ${activation} at epoch ${epoch}`;
    const remedy = `idunn takeover ${tx.target} --confirm ${activation} ends what runs under it, and sets it aside.`;
    return reject({ ...because('takeover-not-confirmed', `${named}; "${confirm}" does not name it.`), remedy });
  }
  const { actor, tenant, target } = tx;
  const value = { schema: 'idunn.set-aside/v1', activation, target, actor, tenant, epoch } as const;
  return ended(at, activation, () =>
    done({ kind: 'set-aside', id: activation, value: { ...value, transaction: tx.id, at: e.now } }),
  );
}

/**
 * Whoever the row names though nobody who is at work, admitted or seen gone explains it, or whom this takeover has
 * ended; `null`: nobody.
 */
function strangerIn({ e, plan }: TakeoverFrame): (Standing & { readonly activation: string }) | null {
  const reading = e.rows.kind === 'seen' ? readRows(e.rows.value, null) : null;
  if (reading?.kind !== 'uniform' || reading.standing.activation === null) return null;
  const { activation, epoch } = reading.standing;
  // A restart of continuity may be past its intent: the row names its launch then.
  const isAtWork = e.holder.issued && e.target.takenBy !== null;
  const isUnknown = strangerHolds(e, reading.standing, false) !== null && !isAtWork;
  return isUnknown || endOf(e, plan, activation).answer?.kind === 'gone' ? { activation, epoch } : null;
}

function unread({ e, untilMs, reject }: TakeoverFrame, why: string): Decision {
  if (isPast(e, untilMs)) return reject(because('lease-row-unreadable', `The lease rows: ${why}.`));
  const wakeAtMs = e.now.monotonicMs + LOOK_AGAIN_MS;
  return wait(`the lease rows: ${why}`, 'idunn doctor', { untilMs, wakeAtMs, incident: 'lease-row-unreadable' });
}

/** Every process of it seen gone, and nothing less: what cannot be proven is not taken over (I1, I10). */
function ended({ e, plan, untilMs, reject }: TakeoverFrame, activation: string, then: () => Decision): Decision {
  const { effect, answered, answer } = endOf(e, plan, activation);
  if (answered === undefined) return act(effect);
  if (answer?.kind === 'gone') return then();
  const why = answer?.kind === 'unknown' ? `: ${answer.because}` : '';
  const what = `every process of ${activation} to be seen gone${why}`;
  if (isPast(e, untilMs)) return reject(because('fence-not-proven', `It was waited for ${what}.`));
  const dueMs = answered.atMs + retryDelayMs(answered.attempts);
  if (e.now.monotonicMs >= dueMs) return act(effect);
  return wait(what, 'idunn doctor', { untilMs, wakeAtMs: dueMs, incident: 'fence-not-proven' });
}

function endOf(e: DeployEvidence, plan: Plan, activation: string) {
  const { stopMs: graceMs } = plan.deadlines;
  const effect: EffectOf<'end-process'> = { kind: 'end-process', activation, handle: null, graceMs };
  const answered = answerTo(e, effect);
  return { effect, answered, answer: answered?.outcome.ok === true ? answered.outcome.value : null };
}
