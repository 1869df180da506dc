import type { HistoryDraft, Moment } from '@idunn/kernel';
import type { StandingStop } from '../ports/freeze-port.ts';
import type { StopSeen } from '../records/stop-seen.ts';

export interface StopChange {
  /** What is remembered of it from now on; `null`: its file is gone. */
  readonly seen: StopSeen | null;
  readonly entry: HistoryDraft;
}

/**
 * What a look at a stop adds to the history; `null` when it stands as it was last seen. Who did it is whose file it is,
 * which the file's owner proves; the record's own `by` is told beside it and decides nothing. Verbs that nobody saw
 * while no daemon ran are counted.
 */
export function stopChange(before: StopSeen | null, found: StandingStop, now: Moment): StopChange | null {
  const { kind, target, steward, holder, stop } = found;
  const entry = (verb: string, actor: string, body: HistoryDraft['body']): HistoryDraft => ({
    kind: `${kind}.${verb}`,
    subject: target,
    actor,
    tenant: 'local',
    atMs: now.wallMs,
    body,
  });
  const seen = (state: StopSeen['state'], record: StopSeen['record'], sequence: number | null): StopSeen => ({
    schema: 'idunn.stop-seen/v1',
    kind,
    target,
    steward,
    state,
    record,
    sequence,
    seenAt: now,
  });
  switch (stop.kind) {
    case 'absent':
      if (before === null) return null;
      // A missing file admits; who removed it, nothing proves.
      return { seen: null, entry: entry('removed', 'unknown', { steward }) };
    case 'unknown': {
      if (before?.state === 'unreadable') return null;
      const because = stop.because;
      return { seen: seen('unreadable', null, null), entry: entry('unreadable', 'unknown', { steward, because }) };
    }
    case 'seen': {
      const { record, digest } = stop.value;
      if (before?.record === digest) return null;
      const { state, by, reason, since, sequence } = record;
      const unseen = Math.max(0, sequence - (before?.sequence ?? 0) - 1);
      const verb = state === 'engaged' ? 'engaged' : 'cleared';
      const body = { by, reason, since, steward, sequence, unseen, record: digest };
      return { seen: seen(state, digest, sequence), entry: entry(verb, holder, body) };
    }
  }
}
