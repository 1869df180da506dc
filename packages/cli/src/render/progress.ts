import type {
  EventAnswer,
  Followed,
  OutcomeEvent,
  OutcomeNameAnswer,
  RefusalAnswer,
  TransactionAnswer,
  WaitNoteAnswer,
} from '@idunn/client';

export interface PhaseLine {
  readonly phase: string;
  readonly atMs: number;
  /** `null` while it is the current one. */
  readonly tookMs: number | null;
  readonly note: string | null;
}

/** What is known of one transaction, folded from its snapshot and events. */
export interface Progress {
  readonly target: string;
  readonly transaction: string;
  readonly ahead: number;
  readonly phases: readonly PhaseLine[];
  readonly wait: WaitNoteAnswer | null;
  /** The step at work inside the current phase, and its last word. */
  readonly step: { readonly step: string; readonly text: string } | null;
  /** Set while the daemon does not answer. */
  readonly lost: RefusalAnswer | null;
  readonly outcome: OutcomeEvent | null;
}

export const noProgress = (target: string, transaction: string): Progress => ({
  target,
  transaction,
  ahead: 0,
  phases: [],
  wait: null,
  step: null,
  lost: null,
  outcome: null,
});

/** The next progress. Told twice or told late changes nothing: a phase is known by its name. */
export function fold(progress: Progress, followed: Followed): Progress {
  switch (followed.kind) {
    case 'lost':
      return { ...progress, lost: followed.refusal };
    case 'snapshot':
      return fromSnapshot({ ...progress, lost: null }, followed.transaction);
    case 'event':
      return fromEvent({ ...progress, lost: null }, followed.event);
  }
}

function fromSnapshot(progress: Progress, transaction: TransactionAnswer): Progress {
  const phases = transaction.phases.map(({ phase, at, tookMs, note }) => ({
    phase,
    atMs: Date.parse(at),
    tookMs,
    note,
  }));
  const { id, target, since, result, waitingOn } = transaction;
  const outcome: OutcomeEvent | null =
    result === null ? null : { event: 'outcome', at: since, target, transaction: id, ...result };
  return {
    ...progress,
    phases: closed(phases, outcome === null ? null : Date.parse(outcome.at)),
    wait: waitingOn,
    outcome,
  };
}

function fromEvent(progress: Progress, event: EventAnswer): Progress {
  switch (event.event) {
    case 'queued':
      return { ...progress, ahead: event.ahead };
    case 'phase': {
      const line = { phase: event.phase, atMs: Date.parse(event.at), tookMs: event.tookMs, note: event.note };
      const known = progress.phases.findIndex(({ phase }) => phase === event.phase);
      const phases = known === -1 ? [...progress.phases, line] : progress.phases.with(known, line);
      return { ...progress, phases: closed(phases, null), wait: null, step: null };
    }
    case 'wait':
      return { ...progress, wait: event.wait };
    case 'incident':
      return progress;
    case 'progress':
      return { ...progress, step: { step: event.step, text: event.text } };
    case 'outcome':
      return {
        ...progress,
        outcome: event,
        wait: null,
        step: null,
        phases: closed(progress.phases, Date.parse(event.at)),
      };
  }
}

/** What a phase came to; `stopped` when the transaction turned back or ended in it, so that it was never reached. */
export type PhaseEnd = 'reached' | 'stopped';

/**
 * The phases that are over, each with what it came to. One that ended is held back until what follows is known, which
 * the daemon says in the same breath.
 */
export function overPhases({ phases, outcome }: Progress): { readonly line: PhaseLine; readonly end: PhaseEnd }[] {
  return phases.flatMap((line, index) => {
    const next = phases[index + 1];
    if (line.tookMs === null || (next === undefined && outcome === null)) return [];
    const turned = next === undefined ? outcome !== null && !WELL.has(outcome.outcome) : isTurning(next.phase);
    return [{ line, end: turned || isTurning(line.phase) ? 'stopped' : 'reached' }];
  });
}

const WELL: ReadonlySet<OutcomeNameAnswer> = new Set(['admitted', 'restored', 'unchanged', 'done']);

const isTurning = (phase: string): boolean => phase === 'aborting' || phase === 'returning';

/** Gives every phase that is over the time until the next one or the end, where the daemon did not say it. */
function closed(phases: readonly PhaseLine[], endMs: number | null): readonly PhaseLine[] {
  return phases.map((line, index) => {
    const overMs = phases[index + 1]?.atMs ?? endMs;
    return line.tookMs !== null || overMs === null ? line : { ...line, tookMs: Math.max(0, overMs - line.atMs) };
  });
}
