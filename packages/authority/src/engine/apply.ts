import type { HistoryDraft, Json, Moment } from '@idunn/kernel';
import type { Entered, Persist } from '../decisions/decision.ts';
import { DRAINING_LIMIT, RETAINED_LIMIT, type TargetRecord } from '../records/target.ts';
import { FREEZE_LOG_LIMIT, PHASE_LOG_LIMIT, type TransactionRecord } from '../records/transaction.ts';

/** What a decision makes durable, worked out before anything is written. */
export interface Applied {
  readonly tx: TransactionRecord;
  readonly target: TargetRecord;
  readonly history: readonly HistoryDraft[];
}

/** Whole milliseconds between two moments; 0 over a reboot, which makes the span unknown (F29). */
export const spanMs = (from: Moment, to: Moment): number =>
  from.bootId === to.bootId ? Math.max(0, to.monotonicMs - from.monotonicMs) : 0;

const rounded = (ms: number): number => Math.round(ms * 10) / 10;

/** The next records and history of one decision. Pure. */
export function applyPersist(tx: TransactionRecord, target: TargetRecord, decision: Persist, now: Moment): Applied {
  const begunAt = tx.begunAt ?? (decision.state.phase === 'queued' ? null : now);
  const queuedMs = tx.begunAt === null && begunAt !== null ? spanMs(tx.intakeAt, begunAt) : 0;
  const thawedMs = decision.clock === 'thaw' && tx.clock.frozenSince !== null ? spanMs(tx.clock.frozenSince, now) : 0;
  const foreignMs = tx.foreignMs + queuedMs + thawedMs + (decision.foreignMs ?? 0);
  const ended = decision.leaves === 'end';
  const next: TransactionRecord = {
    ...tx,
    begunAt,
    state: decision.state,
    since: decision.entered.length === 0 ? tx.since : now,
    clock: nextClock(tx.clock, decision.clock, now),
    log: logged(tx.log, decision.entered, now),
    freezes: (decision.freeze === undefined ? tx.freezes : [...tx.freezes, decision.freeze]).slice(-FREEZE_LOG_LIMIT),
    foreignMs,
    result: decision.result === undefined ? tx.result : concluded(tx, decision.result, now, foreignMs),
    ended: tx.ended || ended,
  };
  const taken = decision.target?.takenBy === tx.id ? { awaitedBy: null } : {};
  const moved = { ...target, ...decision.target, ...taken };
  return { tx: next, target: dequeued(moved, tx.id, decision.leaves), history: historyOf(tx, next, decision, now) };
}

function nextClock(
  clock: TransactionRecord['clock'],
  change: Persist['clock'],
  now: Moment,
): TransactionRecord['clock'] {
  switch (change) {
    case undefined:
      return clock;
    case 'restart':
      return { startedAt: now, frozenSince: null, pausedMs: 0 };
    case 'freeze':
      return { ...clock, frozenSince: now };
    case 'thaw':
      return {
        ...clock,
        frozenSince: null,
        pausedMs: clock.pausedMs + (clock.frozenSince === null ? 0 : spanMs(clock.frozenSince, now)),
      };
  }
}

function logged(log: TransactionRecord['log'], entered: readonly Entered[], now: Moment): TransactionRecord['log'] {
  const entries = [...log];
  for (const { phase, note, atMs } of entered) {
    const at = atMs === undefined ? now : { ...now, monotonicMs: atMs, wallMs: now.wallMs - (now.monotonicMs - atMs) };
    const last = entries.at(-1);
    if (last !== undefined && last.tookMs === null) {
      entries[entries.length - 1] = { ...last, tookMs: rounded(spanMs(last.at, at)) };
    }
    entries.push({ phase, at, tookMs: null, note: note ?? null });
  }
  return entries.slice(-PHASE_LOG_LIMIT);
}

function concluded(
  tx: TransactionRecord,
  result: NonNullable<Persist['result']>,
  now: Moment,
  foreignMs: number,
): TransactionRecord['result'] {
  const durationMs = spanMs(tx.intakeAt, now);
  return {
    outcome: result.outcome,
    incarnation: result.incarnation,
    revision: result.revision,
    durationMs: rounded(durationMs),
    ownMs: rounded(Math.max(0, durationMs - foreignMs)),
    writeGapMs: result.writeGapMs ?? null,
    requests: result.requests ?? { held: 0, failed: 0, longestHoldMs: 0 },
    refusal: result.refusal,
  };
}

function dequeued(target: TargetRecord, id: string, leaves: Persist['leaves']): TargetRecord {
  const kept = { ...target, retained: target.retained.slice(0, RETAINED_LIMIT) };
  if (leaves === undefined) return kept;
  const free = (holder: string | null): string | null => (holder === id ? null : holder);
  const queue = target.queue.filter((queued) => queued !== id);
  const draining = target.draining.filter((other) => other !== id);
  return {
    ...kept,
    queue,
    draining: leaves === 'detach' ? [...draining, id].slice(-DRAINING_LIMIT - 1) : draining,
    takenBy: free(kept.takenBy),
    restart: free(kept.restart),
    awaitedBy: free(kept.awaitedBy),
  };
}

/** Everything durable leaves a line; secrets have no way into one (F30). */
function historyOf(tx: TransactionRecord, next: TransactionRecord, decision: Persist, now: Moment): HistoryDraft[] {
  const draft = (kind: string, body: Json): HistoryDraft => ({
    kind,
    subject: tx.target,
    actor: tx.actor,
    tenant: tx.tenant,
    atMs: now.wallMs,
    body,
  });
  const about = { transaction: tx.id, target: tx.target };
  const lines = decision.entered.map(({ phase, note }) =>
    draft('transaction.phase', { ...about, phase, note: note ?? null }),
  );
  if (decision.freeze !== undefined) {
    const { phase, record, admittedAt } = decision.freeze;
    lines.push(draft('transaction.freeze', { ...about, phase, record, admitted: admittedAt !== null }));
  }
  if (decision.target?.admitted !== undefined && decision.target.admitted !== null) {
    const { incarnation, epoch, document } = decision.target.admitted;
    lines.push(draft('target.admitted', { ...about, incarnation, epoch, activation: document.activation }));
  }
  if (decision.result !== undefined) {
    lines.push(draft('transaction.outcome', { ...about, ...(next.result as unknown as { [name: string]: Json }) }));
  }
  if (lines.length === 0) lines.push(draft('transaction.progress', { ...about, phase: next.state.phase }));
  return lines;
}
