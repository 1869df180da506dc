import type { Moment } from '@idunn/kernel';
import type { Entered, Wait } from '../decisions/decision.ts';
import type { BackPhase, Phase } from '../model/phase.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { TransactionEvent, TransactionView, WaitNote } from './api.ts';

/** For people: ISO 8601 of the wall clock. Much is told of one moment, so the last is remembered. */
export const isoAt = ({ wallMs }: Pick<Moment, 'wallMs'>): string => {
  if (wallMs !== last.wallMs) last = { wallMs, iso: new Date(wallMs).toISOString() };
  return last.iso;
};
let last = { wallMs: 0, iso: new Date(0).toISOString() };

/** A moment of the monotonic clock on the wall clock of now (F29). */
export const isoAtMs = (atMs: number, now: Moment): string => isoAt({ wallMs: now.wallMs + atMs - now.monotonicMs });

/** A wait as people see it; its deadline is shown on the wall clock of now. */
export function noteOf(waiting: { readonly wait: Wait; readonly since: Moment }, now: Moment): WaitNote {
  const { wait, since } = waiting;
  const until = wait.untilMs === null ? null : isoAtMs(wait.untilMs, now);
  return { what: wait.what, since: isoAt(since), until, remedy: wait.remedy };
}

type PhaseEvent = Omit<Extract<TransactionEvent, { event: 'phase' }>, 'at' | 'target' | 'transaction'>;

/** The events of newly entered phases: each that ended with the time it took, each that began without one. */
export function phaseEvents(
  before: TransactionRecord,
  after: TransactionRecord,
  entered: readonly Entered[],
  shown: readonly string[],
): readonly PhaseEvent[] {
  if (entered.length === 0) return [];
  const events: PhaseEvent[] = [];
  const fresh = after.log.slice(-entered.length);
  const previous = after.log.at(-entered.length - 1);
  if (previous !== undefined && before.log.length > 0) events.push(ended(previous));
  fresh.forEach((line, index) => {
    if (!shown.includes(line.phase))
      events.push({ event: 'phase', phase: line.phase as Phase, tookMs: null, note: line.note });
    if (index < fresh.length - 1) events.push(ended(line));
  });
  return events;
}

const ended = ({ phase, tookMs, note }: TransactionRecord['log'][number]): PhaseEvent => ({
  event: 'phase',
  phase: phase as Phase,
  tookMs: tookMs ?? 0,
  note,
});

/** What people call it. */
export const kindOf = ({ request }: TransactionRecord): TransactionView['kind'] =>
  request.kind === 'up' ? 'deploy' : request.kind;

/** One transaction as people see it. */
export function transactionView(
  tx: TransactionRecord,
  waiting: { readonly wait: Wait; readonly since: Moment } | null,
  now: Moment,
): TransactionView {
  const { incarnation, revision } = subjectIn(tx) ?? { incarnation: null, revision: null };
  return {
    id: tx.id,
    kind: kindOf(tx),
    target: tx.target,
    actor: tx.actor,
    tenant: tx.tenant,
    phase: tx.state.phase,
    since: isoAt(tx.since),
    phases: tx.log.map(({ phase, at, tookMs, note }) => ({
      phase: phase as Phase | BackPhase,
      at: isoAt(at),
      tookMs,
      note,
    })),
    waitingOn: waiting === null ? null : noteOf(waiting, now),
    incarnation: incarnation ?? tx.result?.incarnation ?? null,
    revision: revision ?? tx.result?.revision ?? null,
    freezes: tx.freezes.map(({ phase, record, admittedAt }) => ({
      phase: phase as Phase,
      record,
      admittedAt: admittedAt === null ? null : isoAt(admittedAt),
    })),
    result: tx.result,
  };
}

function subjectIn({ state }: TransactionRecord) {
  if ('candidate' in state) return state.candidate.subject;
  if ('passage' in state) return state.passage.successor.subject;
  if ('admitted' in state) return state.admitted;
  return 'subject' in state ? state.subject : null;
}
