import { type CommonOptions, openContext, printJson, refuse, show, withSuggestion } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';

export interface LogsOptions extends CommonOptions {
  readonly lines?: number;
  readonly follow?: boolean;
}

/** `idunn logs TARGET [-f]`: of the activation that was launched last. */
export async function logs(
  environment: Environment,
  target: string,
  { lines, follow, ...options }: LogsOptions,
): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, json } = opened.value;
  const asked = lines === undefined ? {} : { lines };
  if (follow !== true) return show(opened.value, client.logs(target, asked), (value) => value.lines);
  const stop = new AbortController();
  const forget = environment.onInterrupt(() => stop.abort());
  const followed = await client.followLogs(target, { ...asked, signal: stop.signal });
  if (!followed.ok) {
    forget();
    return refuse(environment, json, withSuggestion(followed.refusal));
  }
  for await (const line of followed.value) {
    if (json) printJson(environment, { schema: 'idunn.log-line/v1', target, line });
    else environment.out.write(`${line}\n`);
  }
  forget();
  return EXIT.done;
}
