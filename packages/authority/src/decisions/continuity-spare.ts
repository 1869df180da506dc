import { type Body, subjectOf } from '../records/body.ts';
import { type ContinuityDecision, rest } from './continuity-decision.ts';
import { type ContinuityEvidence, NOT_LOOKED } from './continuity-evidence.ts';
import { LOOK_AGAIN_MS } from './deadline.ts';
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

/**
 * Our records may be older than the world: what they keep as a spare was launched since and holds the lease. While
 * anything of it may live, nothing is started beside it and it is not taken for a candidate (I1, I7); once it is seen
 * gone it is a launch of ours that has ended. `null`: no row names it.
 */
export function spareHolds(e: ContinuityEvidence, lost: string): ContinuityDecision | null {
  const { spare } = e.record;
  if (spare === null || e.plan.state === null) return null;
  if (e.rows === NOT_LOOKED) return { kind: 'look', at: 'rows' };
  if (!namesSpare(e) || e.holder.found.kind === 'absent') return null;
  const why = `the lease row names ${spare.activation}, which was only kept for the next restart`;
  return rest({
    concerns: [{ code: 'lease-row-unexpected', detail: `${lost}; ${why}` }],
    wait: { what: `the lease: ${why}`, remedy: 'idunn inspect' },
    wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
  });
}

const namesSpare = ({ record, rows }: ContinuityEvidence): boolean =>
  rows.kind === 'seen' && Object.values(rows.value).some(({ activation }) => activation === record.spare?.activation);

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
