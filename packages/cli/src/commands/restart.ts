import { type CommonOptions, openContext, refuse } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import type { FollowOptions } from './follow.ts';
import { run } from './up.ts';

export interface OperationOptions extends CommonOptions, FollowOptions {
  readonly operationId?: string;
}

/** `idunn restart TARGET`: what is admitted, as a new activation of the same sealed release. */
export async function restart(environment: Environment, target: string, options: OperationOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const operationId = options.operationId ?? environment.freshId('op');
  return run(opened.value, { kind: 'restart', operationId, target }, options);
}

/** `idunn cancel TRANSACTION` and `idunn expire TRANSACTION`: follows what it ends to its outcome. */
export async function withdraw(
  environment: Environment,
  kind: 'cancel' | 'expire',
  transaction: string,
  options: OperationOptions,
): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const operationId = options.operationId ?? environment.freshId('op');
  return run(opened.value, { kind, operationId, transaction }, options);
}
