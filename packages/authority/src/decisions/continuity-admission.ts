import type { Moment } from '@idunn/kernel';
import type { ContinuityRecord } from '../records/continuity.ts';
import type { TargetRecord } from '../records/target.ts';

/**
 * Continuity's record as it counts for what is admitted now: what a deployment admitted since begins with no attempt
 * charged and no wait, whatever became of the one before it. A restart is no admission.
 */
export function recordOfAdmission(record: ContinuityRecord, target: TargetRecord, now: Moment): ContinuityRecord {
  const { admitted, stranded } = target;
  const last = record.anchor ?? record.charged.at(-1);
  if (admitted === null || stranded !== null || last === undefined) return record;
  if (!isBefore(last, admitted.admittedAt, now)) return record;
  return { ...record, streak: 0, charged: [], anchor: null, deferral: null };
}

/** Within one boot by the monotonic clock; of two boots the present one is the later (F29). Else nobody knows. */
function isBefore(a: Moment, b: Moment, now: Moment): boolean {
  if (a.bootId === b.bootId) return a.monotonicMs < b.monotonicMs;
  return b.bootId === now.bootId;
}
