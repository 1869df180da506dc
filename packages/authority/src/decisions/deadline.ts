import type { PhaseDeadlines, Plan } from '@idunn/release';
import type { Phase } from '../model/phase.ts';
import { phaseRow } from '../model/phase-table.ts';
import type { Passage } from '../records/passage.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { DeployEvidence } from './evidence.ts';

/** The deadline of resolving and compiling a plan, which no plan can set. */
export const PLAN_DEADLINE_MS = 120_000;
/** How often a condition that no event announces is looked at again. */
export const LOOK_AGAIN_MS = 500;

const total = (deadlines: PhaseDeadlines, names: readonly (keyof PhaseDeadlines)[]): number =>
  names.reduce((sum, name) => sum + deadlines[name], 0);

/**
 * When the phase's deadline falls, in monotonic milliseconds; `null` without one or while a freeze stops the clock
 * (I8).
 */
export function deadlineMs(tx: TransactionRecord, phase: Phase, plan: Plan | null): number | null {
  // A restart goes on for ever: its candidate is the only running copy of what was admitted (I9).
  if (tx.clock.frozenSince !== null || tx.request.kind === 'continuity') return null;
  return spanEndMs(tx, phase, plan);
}

/** When the phase's span is over, whether or not anything follows from it. */
export function spanEndMs(tx: TransactionRecord, phase: Phase, plan: Plan | null): number | null {
  const { deadline } = phaseRow(phase);
  const spanMs = phase === 'planned' ? PLAN_DEADLINE_MS : plan === null ? 0 : total(plan.deadlines, deadline);
  if (spanMs === 0) return null;
  return tx.clock.startedAt.monotonicMs + tx.clock.pausedMs + spanMs;
}

/**
 * When a launch inside a passage that has not said its first word has failed: the wait for it is as long as before the
 * fence, and each launch has its own. What was launched in another boot has ended with it (F29).
 */
export function firstWordUntilMs({ clock }: TransactionRecord, { launchedAt }: Passage, e: DeployEvidence, plan: Plan) {
  if (clock.frozenSince !== null || launchedAt?.bootId !== e.now.bootId) return null;
  return launchedAt.monotonicMs + plan.deadlines.warmingMs;
}

/** Only spans of one boot are compared; the dispatcher restarts the clock after a reboot (F29). */
export const isPast = (e: DeployEvidence, untilMs: number | null): boolean =>
  untilMs !== null && e.now.monotonicMs >= untilMs;
