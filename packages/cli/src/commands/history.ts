import { type CommonOptions, openContext, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { renderHistory } from '../render/history.ts';

export interface HistoryOptions extends CommonOptions {
  readonly limit?: number;
}

/** `idunn history [SUBJECT]`: of the fleet, or of one target or transaction. */
export async function history(
  environment: Environment,
  subject: string | undefined,
  { limit, ...options }: HistoryOptions,
): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, style } = opened.value;
  const asked = { ...(subject === undefined ? {} : { subject }), ...(limit === undefined ? {} : { limit }) };
  const answer = await client.history(asked);
  if (answer.ok && subject !== undefined && answer.value.entries.length === 0) {
    const known = await client.inspect(subject);
    if (!known.ok) return refuse(environment, options.json ?? false, known.refusal);
  }
  return show(opened.value, Promise.resolve(answer), (value) => renderHistory(value, style));
}
