import { type CommonOptions, openContext, refuse } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import type { FollowOptions } from './follow.ts';
import { run } from './up.ts';

export interface TakeoverOptions extends CommonOptions, FollowOptions {
  /** Who is set aside: an owner as `fleet/target`, or an activation. */
  readonly confirm?: string;
  readonly operationId?: string;
}

/**
 * `idunn takeover TARGET`: sets aside who stands in its way, after the name was typed out: the owner that claims its
 * state, or the activation that holds its lease, or runs, and that no record knows.
 */
export async function takeover(environment: Environment, target: string, options: TakeoverOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const confirm =
    options.confirm ??
    (await environment.ask(
      `What stands in the way of ${target} is set aside, as idunn status and the refusal of idunn up name it:\n` +
        '- another owner, whose claim lies beside the state: nothing of that owner may still run on it;\n' +
        '- an activation that holds the lease or runs and no record knows: its processes on this machine are ended.\n' +
        'Type FLEET/TARGET or the activation: ',
    ));
  if (confirm === null || confirm.trim() === '') {
    refuse(environment, options.json ?? false, {
      code: 'words-invalid',
      reason: 'nobody can be asked who is set aside',
      remedy: `Run idunn takeover ${target} --confirm with the FLEET/TARGET or activation that idunn up refused over.`,
    });
    return EXIT.usage;
  }
  const operationId = options.operationId ?? environment.freshId('op');
  return run(opened.value, { kind: 'takeover', operationId, target, confirm: confirm.trim() }, options);
}
