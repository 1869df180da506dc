import { type CommonOptions, openContext, printJson, refuse } from '../context.ts';
import { startDetached, startForeground } from '../edge/daemon-process.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';

export interface DaemonOptions extends CommonOptions {
  readonly detach?: boolean;
}

/** `idunn daemon`: in the foreground until it is ended, or with --detach in the background once it answers. */
export async function daemon(environment: Environment, options: DaemonOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, located, directories, json } = opened.value;
  const running = await client.version();
  if (running.ok) {
    if (options.detach !== true) {
      return refuse(environment, json, {
        code: 'daemon-already-running',
        reason: `a daemon serves the fleet ${running.value.fleet} already, pid ${running.value.pid}`,
        remedy: 'Use it: idunn status shows it. To end it, send it SIGTERM; what it runs stays up.',
      });
    }
    return report(environment, json, running.value, 'runs already');
  }
  if (options.detach !== true) return startForeground(located.directory);
  const started = await startDetached(located.directory, directories.logs);
  if (!started.ok) return refuse(environment, json, started.refusal);
  const answer = await client.version();
  if (!answer.ok) return refuse(environment, json, answer.refusal);
  return report(environment, json, answer.value, 'answers');
}

function report(
  environment: Environment,
  json: boolean,
  version: { pid: number; fleet: string },
  what: string,
): number {
  if (json) printJson(environment, version);
  else environment.out.write(`the daemon of ${version.fleet} ${what}, pid ${version.pid}\n`);
  return EXIT.done;
}
