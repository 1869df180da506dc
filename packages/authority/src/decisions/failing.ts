import { type Code, type Json, type Refusal, refusal } from '@idunn/kernel';
import type { Launch, Subject } from '../records/body.ts';
import type { DeployState } from '../records/transaction.ts';
import { type Decision, enter, tolerate } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo, type DeployEvidence, slotOf } from './evidence.ts';

/** What exists of a candidate when its deployment fails. */
export interface Remains {
  readonly subject: Subject | null;
  readonly launch: Launch | null;
  readonly withdraw?: { readonly activation: string | null; readonly requestId: string } | null;
}

/**
 * The refusal with everything that a person needs to see: last presence, last probe, last log lines (F5, F7). Asks for
 * the autopsy first, because the log goes away with the activation. Words that cannot be read hold no way back up (I7).
 */
export function withLastWords(
  e: DeployEvidence,
  launch: Launch | null,
  why: Refusal,
  then: (told: Refusal) => Decision,
): Decision {
  if (launch === null) return then(why);
  const word = slotOf(e, launch.id).word;
  const effect = { kind: 'autopsy', activation: launch.id, word: word.kind === 'seen' ? word.value : null } as const;
  return tolerate(e, effect, { what: 'the last words of the candidate' }, (words) => {
    if (words === null) return then(tell(why, { log: [`It cannot be read: ${whyUnread(e, effect)}`] }));
    const { exit, log, presence, reading } = words;
    return then(tell(why, { ...(exit === null ? {} : { exit }), log, presence, probe: lastProbe(e) ?? reading }));
  });
}

function whyUnread(e: DeployEvidence, autopsy: EffectOf<'autopsy'>): string {
  const answered = answerTo(e, autopsy);
  return answered?.outcome.ok === false ? answered.outcome.refusal.reason : 'nobody answered';
}

function tell(why: Refusal, words: { readonly [name: string]: Json }): Refusal {
  const detail = why.detail === undefined ? words : { ...words, cause: why.detail };
  return { ...why, detail };
}

/** The last answer that the stable route gave, status and body; `null` when nothing was probed. */
function lastProbe(e: DeployEvidence): Json {
  const probe = answerTo<'observe-route'>(e, { kind: 'observe-route', route: '', path: '' });
  if (probe === undefined) return null;
  return probe.outcome.ok ? { ...probe.outcome.value } : { reason: probe.outcome.refusal.reason };
}

/**
 * A deadline that passed, told by what was refused last of all that was waited for (F2, F5): `waitedFor` are keys of
 * effects, `otherwise` says it in general where none of them was refused.
 */
export function late(e: DeployEvidence, waitedFor: readonly string[], otherwise: string): Refusal {
  const refusals = waitedFor.flatMap((key) => {
    const answer = e.answers[key];
    return answer === undefined || answer.outcome.ok ? [] : [{ why: answer.outcome.refusal, atMs: answer.atMs }];
  });
  const [last] = refusals.toSorted((a, b) => b.atMs - a.atMs);
  return last?.why ?? because('phase-deadline', otherwise);
}

export const aborting = (remains: Remains, why: Refusal, outcome: BeforeFence = 'aborted'): DeployState => ({
  phase: 'aborting',
  outcome,
  why,
  subject: remains.subject,
  launch: remains.launch,
  gone: remains.launch === null,
  withdraw: remains.withdraw ?? null,
});

/** Gives a deployment up before its fence: the candidate goes, the incumbent was never touched (I7). */
export function giveUp(e: DeployEvidence, remains: Remains, why: Refusal, outcome?: BeforeFence): Decision {
  return withLastWords(e, remains.launch, why, (told) => enter(aborting(remains, told, outcome), { note: told.code }));
}

/** How a transaction can end before its fence. */
export type BeforeFence = 'aborted' | 'cancelled' | 'expired';

export const because = (code: Code, reason: string): Refusal => refusal(code, reason);
