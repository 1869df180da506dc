import { type Body, subjectOf } from '../records/body.ts';
import { type ContinuityDecision, rest } from './continuity-decision.ts';
import type { ContinuityEvidence } from './continuity-evidence.ts';
import { retryDelayMs } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo } from './evidence.ts';

/** Wait before a credential that could not be minted is tried again, at least. */
const PATIENCE_MS = 5_000;

/**
 * Keeps one activation minted ahead, so that a restart needs no more than its record and its spawn. Its id is durable
 * before anything is minted; one of another release or boot is cleared away. `null`: there is nothing to do.
 */
export function keepSpare(e: ContinuityEvidence, body: Body): ContinuityDecision | null {
  const { spare } = e.record;
  if (spare === null) {
    const { incarnation } = body;
    const fresh = { activation: e.fresh.activation, incarnation, bootId: e.now.bootId };
    return { kind: 'persist', record: { ...e.record, spare: fresh }, begin: null };
  }
  if (spare.incarnation !== body.incarnation || spare.bootId !== e.now.bootId) {
    const effect = { kind: 'retire', activation: spare.activation } as const;
    return trying(e, effect) ?? { kind: 'persist', record: { ...e.record, spare: null }, begin: null };
  }
  return trying(e, mintOf(body, spare.activation));
}

export const mintOf = (body: Body, activation: string): EffectOf<'mint'> => ({
  kind: 'mint',
  subject: subjectOf(body),
  activation,
});

/** `null` once it was done. Nothing waits for it: after a refusal it is tried again with patience. */
function trying(e: ContinuityEvidence, effect: EffectOf<'mint'> | EffectOf<'retire'>): ContinuityDecision | null {
  const answered = answerTo(e, effect);
  if (answered === undefined) return { kind: 'act', effect };
  if (answered.outcome.ok) return null;
  const dueMs = answered.atMs + PATIENCE_MS + retryDelayMs(answered.attempts);
  return e.now.monotonicMs >= dueMs ? { kind: 'act', effect } : rest({ wakeAtMs: dueMs });
}
