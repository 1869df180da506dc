import { type CommonOptions, openContext, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { renderInspect } from '../render/inspect.ts';

/** `idunn inspect ID`: everything that is known about a target, transaction, release or incarnation. */
export async function inspect(environment: Environment, id: string, options: CommonOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, style } = opened.value;
  return show(opened.value, client.inspect(id), (value) => renderInspect(value, environment.nowMs(), style));
}
