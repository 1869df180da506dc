import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Clearance } from '../guard/clearance.ts';
import type { ReleaseOperations } from '../operations/port.ts';
import { type PlanStep, renderPlan } from './plan.ts';

/** How long one step may take. */
export interface RunOptions {
  readonly stepDeadlineMs: number;
  /** Told before each step that changes something. */
  readonly progress?: (step: PlanStep, index: number) => void;
}

/**
 * Carries a plan out in its order and stops at the first step that is refused; the refusal says which steps were done.
 * `raise` steps are the caller's own and end the run with a refusal. Give it guarded operations.
 */
export async function runPlan(
  operations: ReleaseOperations,
  clearance: Clearance,
  steps: readonly PlanStep[],
  { stepDeadlineMs, progress }: RunOptions,
): Promise<Outcome<void>> {
  for (const [index, step] of steps.entries()) {
    progress?.(step, index);
    const outcome = await carryOut(operations, clearance, step, stepDeadlineMs);
    if (!outcome.ok) {
      const done = steps.slice(0, index).map((one) => renderPlan([one]).slice(3));
      const { detail } = outcome.refusal;
      return refused({ ...outcome.refusal, detail: { done, ...(detail === undefined ? {} : { because: detail }) } });
    }
  }
  return ok(undefined);
}

async function carryOut(
  operations: ReleaseOperations,
  clearance: Clearance,
  step: PlanStep,
  deadlineMs: number,
): Promise<Outcome<void>> {
  const { namespace } = step;
  switch (step.kind) {
    case 'require-unrouted':
      return requireUnrouted(operations, step);
    case 'sleep':
      return operations.sleep(clearance, { namespace, deadlineMs });
    case 'wake':
      return operations.wake(clearance, { namespace, deadlineMs });
    case 'route-host':
      return routeHost(operations, clearance, step);
    case 'drop-route':
      return operations.dropRoute(clearance, { namespace, host: step.host });
    case 'raise':
      return refused(
        refusal('raise-phase-open', `The phase ${step.phase} of ${namespace} is the caller's to carry out.`),
      );
  }
}

/** An empty namespace is awake at once: that is no sign that anything would answer there (I10). */
async function routeHost(
  operations: ReleaseOperations,
  clearance: Clearance,
  { namespace, route }: PlanStep & { readonly kind: 'route-host' },
): Promise<Outcome<void>> {
  const running = await operations.workloads({ namespace });
  if (!running.ok) return running;
  if (running.value.length > 0) return operations.routeHost(clearance, { namespace, ...route });
  return refused(
    refusal('generation-empty', `Nothing runs in ${namespace}: ${route.host} would lead to where nobody answers.`),
  );
}

/** A host that cannot be looked up may well lead there (I10). */
async function requireUnrouted(
  operations: ReleaseOperations,
  { namespace, hosts }: PlanStep & { readonly kind: 'require-unrouted' },
): Promise<Outcome<void>> {
  for (const host of hosts) {
    const owner = await operations.hostOwner(host);
    if (owner.kind === 'unknown') {
      return refused(refusal('host-owner-unknown', `Where ${host} leads could not be read: ${owner.because}.`));
    }
    if (owner.kind === 'seen' && owner.value === namespace) {
      return refused(
        refusal('generation-live', `${host} leads to ${namespace}: it would be put to sleep while it serves.`),
      );
    }
  }
  return ok(undefined);
}
