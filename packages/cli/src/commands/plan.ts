import { type CommonOptions, openContext, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { renderPlan } from '../render/plan.ts';

export interface PlanOptions extends CommonOptions {
  readonly ref?: string;
}

/** `idunn plan TARGET`: what an `up` would do now, without touching anything. */
export async function plan(environment: Environment, target: string, options: PlanOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, style } = opened.value;
  return show(opened.value, client.plan(target, options.ref ?? null), (value) => renderPlan(value, style));
}
