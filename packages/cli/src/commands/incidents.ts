import { type CommonOptions, openContext, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { renderIncidents } from '../render/incidents.ts';

/** `idunn incidents`: what a person should look at, open now. */
export async function incidents(environment: Environment, options: CommonOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, style } = opened.value;
  return show(opened.value, client.incidents(), (value) => renderIncidents(value, style));
}
