import { type CommonOptions, openContext, refuse } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import type { FollowOptions } from './follow.ts';
import { run } from './up.ts';

export interface TakeoverOptions extends CommonOptions, FollowOptions {
  /** The owner that is set aside, as `fleet/target`. */
  readonly confirm?: string;
  readonly operationId?: string;
}

/** `idunn takeover TARGET`: makes the state of another fleet this target's, after the owner was typed out. */
export async function takeover(environment: Environment, target: string, options: TakeoverOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const confirm =
    options.confirm ??
    (await environment.ask(
      `The state of ${target} is claimed by another owner; nothing of that owner may still run on it.\n` +
        'Type the owner that is set aside, as FLEET/TARGET: ',
    ));
  if (confirm === null || confirm.trim() === '') {
    refuse(environment, options.json ?? false, {
      code: 'words-invalid',
      reason: 'nobody can be asked which owner is set aside',
      remedy: `Run idunn takeover ${target} --confirm FLEET/TARGET with the owner that the refusal of idunn up names.`,
    });
    return EXIT.usage;
  }
  const operationId = options.operationId ?? environment.freshId('op');
  return run(opened.value, { kind: 'takeover', operationId, target, confirm: confirm.trim() }, options);
}
