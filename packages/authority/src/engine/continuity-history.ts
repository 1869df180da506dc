import type { HistoryDraft, Json, Moment } from '@idunn/kernel';
import type { Begin } from '../decisions/continuity-decision.ts';
import type { ContinuityRecord } from '../records/continuity.ts';

/** What a change of continuity's record leaves in the history; a spare leaves nothing. */
export function continuityHistory(
  target: string,
  before: ContinuityRecord | null,
  record: ContinuityRecord,
  begin: Begin | null,
  now: Moment,
): readonly HistoryDraft[] {
  const draft = (kind: string, body: { readonly [name: string]: Json }): HistoryDraft => ({
    kind,
    subject: target,
    actor: 'continuity',
    tenant: 'local',
    atMs: now.wallMs,
    body: { target, streak: record.streak, ...body },
  });
  if (begin !== null) {
    const { id, request, log } = begin.transaction;
    const cause = request.kind === 'continuity' ? request.cause : null;
    const phases = log.map(({ phase, note }) => draft('transaction.phase', { transaction: id, phase, note }));
    return [draft('continuity.restart', { transaction: id, cause }), ...phases];
  }
  if (record.deferral !== null && before?.deferral !== record.deferral) {
    return [draft('continuity.deferred', { code: record.deferral.code, reason: record.deferral.reason })];
  }
  return record.anchor !== null && before?.anchor !== record.anchor ? [draft('continuity.waiting', {})] : [];
}
