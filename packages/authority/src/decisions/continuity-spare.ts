import { type Body, subjectOf } from '../records/body.ts';
import type { ContinuityRecord } from '../records/continuity.ts';
import { type ContinuityDecision, rest } from './continuity-decision.ts';
import { type ContinuityEvidence, NOT_LOOKED } from './continuity-evidence.ts';
import { LOOK_AGAIN_MS } from './deadline.ts';
import { retryDelayMs } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { answerTo } from './evidence.ts';
import { strangerHolds } from './lease-at-hand.ts';
import { readRows } from './rows.ts';

/** Wait before a credential that could not be minted is tried again, at least. */
const PATIENCE_MS = 5_000;

/**
 * Keeps one activation minted ahead, so that a restart needs no more than its record and its spawn. Its id is durable
 * before anything is minted; one of another release or boot is cleared away, and that it goes is durable before: the
 * same release may be admitted again meanwhile (I6). `null`: there is nothing to do.
 */
export function keepSpare(e: ContinuityEvidence, body: Body): ContinuityDecision | null {
  const { spare } = e.record;
  const keep = (next: NonNullable<ContinuityRecord['spare']>): ContinuityDecision => ({
    kind: 'persist',
    record: { ...e.record, spare: next },
    begin: null,
  });
  const fresh = { activation: e.fresh.activation, incarnation: body.incarnation, bootId: e.now.bootId };
  if (spare === null) return keep(fresh);
  if (spare.leaving === true) return trying(e, { kind: 'retire', activation: spare.activation }) ?? keep(fresh);
  return fits(e, body) ? trying(e, mintOf(body, spare.activation)) : keep({ ...spare, leaving: true });
}

/** The spare that the next restart may launch; `null` while there is none. */
export function spareFor(e: ContinuityEvidence, body: Body): string | null {
  const { spare } = e.record;
  return spare !== null && fits(e, body) && isUntouched(e) ? spare.activation : null;
}

const fits = ({ record: { spare }, now }: ContinuityEvidence, { incarnation }: Body): boolean =>
  spare !== null && spare.leaving !== true && spare.incarnation === incarnation && spare.bootId === now.bootId;

/**
 * The rows show that nobody launched it: they name who was on duty, nobody, or another launch of ours that is over.
 * Rows that cannot be read, or that name a stranger, show nothing (I1, I10).
 */
function isUntouched(e: ContinuityEvidence): boolean {
  if (e.plan.state === null) return true;
  const reading = e.rows.kind === 'seen' ? readRows(e.rows.value, null) : null;
  return reading?.kind === 'uniform' && !namesSpare(e) && strangerHolds(e, reading.standing, false) === null;
}

/** The spare as it is kept beside a restart: what the rows name was launched, and is nothing ahead any more. */
export function spareBeside(e: ContinuityEvidence, launched: string): ContinuityRecord['spare'] {
  const { spare } = e.record;
  if (spare === null || spare.activation === launched) return null;
  return namesSpare(e) ? { ...spare, leaving: true } : spare;
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
