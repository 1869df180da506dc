import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { type Clearance, covers } from '../guard/clearance.ts';
import type { ReleaseOperations, RolloutEnd, RolloutProgress } from './port.ts';

/** One workload to another release. A value: printed by a dry run, or carried out. */
export interface RolloutPlan {
  readonly namespace: string;
  readonly workload: string;
  readonly release: string;
  /** How long the rollout may take, and how long going back may. */
  readonly deadlineMs: number;
}

/** How a rollout ended. Four ends that mean different things to whoever is on call. */
export type RolloutOutcome =
  | { readonly kind: 'promoted'; readonly from: string | null; readonly to: string }
  /** It failed, and what ran before runs again. */
  | { readonly kind: 'rolled-back'; readonly because: string; readonly to: string }
  /** It failed, and what ran before was not seen to run again. */
  | { readonly kind: 'rollback-failed'; readonly because: string; readonly rollbackBecause: string }
  /** It failed, and nothing ran before that could be gone back to. */
  | { readonly kind: 'no-anchor'; readonly because: string };

/** The plan for people: what a dry run prints. */
export const renderRollout = ({ namespace, workload, release, deadlineMs }: RolloutPlan): string =>
  [
    `1. note what ${workload} in ${namespace} runs now`,
    `2. set it to ${release} and wait until it is ready, at most ${deadlineMs} ms`,
    '3. if it does not become ready, set it back to what was noted and wait as long again',
  ].join('\n');

/**
 * Rolls one workload to another release. What it runs now is read before anything is changed: afterwards it is too
 * late to ask. Refused, with nothing changed, when that cannot be read. Give it guarded operations.
 */
export async function rollout(
  operations: ReleaseOperations,
  clearance: Clearance,
  plan: RolloutPlan,
  progress: (step: RolloutProgress) => void = () => {},
): Promise<Outcome<RolloutOutcome>> {
  const { namespace, workload, release, deadlineMs } = plan;
  const anchor = await operations.currentRelease({ namespace, workload });
  if (anchor.kind === 'unknown') {
    const reason = `What ${workload} in ${namespace} runs now could not be read: ${anchor.because}.`;
    return refused(refusal('rollout-anchor-unknown', reason));
  }
  const before = anchor.kind === 'seen' ? anchor.value : null;
  const moved = await moveTo(operations, clearance, plan, { from: before, to: release }, progress);
  if (moved.kind === 'refused') return refused(moved.refusal);
  if (moved.kind === 'ready') return ok({ kind: 'promoted', from: before, to: release });
  const because = reasonOf(moved, deadlineMs);
  if (before === null) return ok({ kind: 'no-anchor', because });
  const back = await moveTo(operations, clearance, plan, { from: release, to: before }, progress);
  if (back.kind === 'ready') return ok({ kind: 'rolled-back', because, to: before });
  const rollbackBecause = back.kind === 'refused' ? back.refusal.reason : reasonOf(back, deadlineMs);
  return ok({ kind: 'rollback-failed', because, rollbackBecause });
}

type Moved = RolloutEnd | { readonly kind: 'refused'; readonly refusal: Parameters<typeof refused>[0] };

/** Sets the release and waits. An answer that was lost is looked up before anything is concluded from it (F8). */
async function moveTo(
  operations: ReleaseOperations,
  clearance: Clearance,
  { namespace, workload, deadlineMs }: RolloutPlan,
  { from, to }: { readonly from: string | null; readonly to: string },
  progress: (step: RolloutProgress) => void,
): Promise<Moved> {
  const set = await operations.setRelease(clearance, { namespace, workload, release: to });
  if (!set.ok) {
    if (!covers(clearance, namespace)) return { kind: 'refused', refusal: set.refusal };
    const now = await operations.currentRelease({ namespace, workload });
    if (now.kind === 'unknown') return { kind: 'failed', because: `${set.refusal.reason} ${now.because}.` };
    if (now.kind === 'absent' || now.value !== to || from === to) return { kind: 'refused', refusal: set.refusal };
  }
  return operations.awaitRollout({ namespace, workload, deadlineMs }, progress);
}

function reasonOf(end: Exclude<RolloutEnd, { kind: 'ready' }>, deadlineMs: number): string {
  if (end.kind === 'failed') return end.because;
  const last = end.last === null ? 'nothing was seen of it' : `it waited on ${end.last.waitingOn}`;
  return `it was not ready after ${deadlineMs} ms: ${last}`;
}
