import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import {
  type Clearance,
  type ReleaseOperations,
  type RolloutPlan,
  renderRollout,
  rollout,
  type Slot,
} from '@idunn/ladder';
import type { Environment } from '../../edge/environment.ts';
import { type Answered, type LadderContext, type LadderOptions, withLadder } from '../../ladder/context.ts';
import { rolloutEnd } from '../../render/ladder.ts';

export interface RolloutOptions extends LadderOptions {
  readonly workload: string;
  readonly release?: string;
  readonly deadline: number;
}

export interface PromoteOptions extends RolloutOptions {
  readonly allowSkip?: boolean;
}

/** `idunn ladder rollout SLOT`: one workload of a slot to a named release. */
export const rolloutTo = (
  environment: Environment,
  name: string,
  options: RolloutOptions & { readonly release: string },
): Promise<number> =>
  withLadder(environment, options, async (context) => {
    const slot = context.guard.look({ slot: name });
    if (!slot.ok) return slot;
    const plan = planOf(slot.value, options, options.release);
    if (options.dryRun === true) return dryRun(renderRollout(plan), context, name);
    const clearance = await context.guard.clear({ slot: name });
    if (!clearance.ok) return clearance;
    const operations = await context.operations(slot.value);
    return operations.ok ? roll(context, operations.value, clearance.value, plan) : operations;
  });

/** `idunn ladder promote FROM TO`: what runs in one slot becomes what runs in the next. */
export const promote = (environment: Environment, from: string, to: string, options: PromoteOptions): Promise<number> =>
  withLadder(environment, options, async (context) => {
    const { guard, say } = context;
    const [below, above] = [guard.look({ slot: from }), guard.look({ slot: to })];
    if (!below.ok) return below;
    if (!above.ok) return above;
    const { workload, allowSkip = false } = options;
    if (options.dryRun === true) {
      const allowed = guard.previewMove('code', { slot: from }, { slot: to }, { allowSkip });
      if (!allowed.ok) return allowed;
      const release = options.release ?? `what ${workload} in ${below.value.namespace} runs`;
      return dryRun(renderRollout(planOf(above.value, options, release)), context, to);
    }
    const cleared = await guard.clearPromotion({ slot: from }, { slot: to }, { allowSkip });
    if (!cleared.ok) return cleared;
    const { clearance, skipped } = cleared.value;
    if (skipped.length > 0) say(`left out: ${skipped.join(', ')}`);
    const lower = await context.operations(below.value);
    if (!lower.ok) return lower;
    const upper = await context.operations(above.value);
    if (!upper.ok) return upper;
    const at = { namespace: below.value.namespace, workload };
    const release = await releaseOf(lower.value, at, options.release);
    if (!release.ok) return release;
    const source = await lower.value.exported({ ...at, release: release.value });
    if (!source.ok) return source;
    if (source.value !== null) {
      say(`carrying ${release.value} from ${from} to ${to}`);
      const applied = await upper.value.apply(clearance, {
        namespace: above.value.namespace,
        source: source.value,
        workload,
      });
      if (!applied.ok) return applied;
    }
    return roll(context, upper.value, clearance, planOf(above.value, options, release.value));
  });

async function releaseOf(
  operations: ReleaseOperations,
  at: { readonly namespace: string; readonly workload: string },
  named: string | undefined,
): Promise<Outcome<string>> {
  const now = named === undefined ? await operations.currentRelease(at) : { kind: 'seen' as const, value: named };
  if (now.kind === 'seen') return ok(now.value);
  const what = `What ${at.workload} in ${at.namespace} runs`;
  if (now.kind === 'unknown')
    return refused(refusal('rollout-anchor-unknown', `${what} could not be read: ${now.because}.`));
  return refused(refusal('release-absent', `${at.workload} does not run in ${at.namespace}.`));
}

async function roll(
  { say }: LadderContext,
  operations: ReleaseOperations,
  clearance: Clearance,
  plan: RolloutPlan,
): Promise<Outcome<Answered>> {
  const outcome = await rollout(operations, clearance, plan, ({ ready, wanted, waitingOn }) =>
    say(`${plan.workload}: ${ready} of ${wanted} ready, waits on ${waitingOn}`),
  );
  if (!outcome.ok) return outcome;
  const { line, exit } = rolloutEnd(outcome.value, `${plan.workload} in ${plan.namespace}`);
  return ok({ lines: [line], value: { schema: 'idunn.ladder-rollout/v1', plan, outcome: outcome.value }, exit });
}

const planOf = (slot: Slot, { workload, deadline }: RolloutOptions, release: string): RolloutPlan => ({
  namespace: slot.namespace,
  workload,
  release,
  deadlineMs: deadline * 1_000,
});

/**
 * The plan of a change, printed. What the guard would refuse is said beside it: whoever only looks at a plan needs no
 * key.
 */
export function dryRun(
  plan: string,
  { guard, say }: Pick<LadderContext, 'guard' | 'say'>,
  slot: string,
): Outcome<Answered> {
  const allowed = guard.preview({ slot });
  if (!allowed.ok) say(`This would be refused: ${allowed.refusal.reason}`);
  return printedPlan(plan, allowed.ok ? null : allowed.refusal.code);
}

export function printedPlan(plan: string, refusal: string | null = null): Outcome<Answered> {
  const steps = plan.split('\n');
  return ok({ lines: steps, value: { schema: 'idunn.ladder-plan/v1', steps, refusal } });
}
