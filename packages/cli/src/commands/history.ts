import { WHOLE_FLEET } from '@idunn/authority';
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
  // What stands under the whole fleet is told with every subject, and says of none that it is there.
  const isKnown = answer.ok && answer.value.entries.some(({ subject: of }) => of !== WHOLE_FLEET);
  if (answer.ok && !isKnown && subject !== undefined && subject !== WHOLE_FLEET) {
    const known = await client.inspect(subject);
    if (!known.ok) return refuse(environment, options.json ?? false, known.refusal);
  }
  return show(opened.value, Promise.resolve(answer), (value) => renderHistory(value, style));
}
