import { type CommonOptions, openContext, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { renderIncidents } from '../render/incidents.ts';

export interface IncidentsOptions extends CommonOptions {
  readonly all?: boolean;
}

/** `idunn incidents [TARGET]`: what a person should look at, open now; with `--all` also what is over. */
export async function incidents(
  environment: Environment,
  subject: string | undefined,
  { all = false, ...options }: IncidentsOptions,
): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, style } = opened.value;
  const asked = { ...(subject === undefined ? {} : { subject }), ...(all ? { all } : {}) };
  return show(opened.value, client.incidents(asked), (value) => renderIncidents(value, style));
}
