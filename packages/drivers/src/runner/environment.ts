import type { RunnerGrant, StagePaths } from '@idunn/release';

/** By this a process of the step is known again, also when it left its process group. */
export const STEP_MARK = 'IDUNN_STEP';

/** The whole environment of a step: what the binding grants and Idunn's own directories; nothing is inherited. */
export function stepEnvironment(grant: RunnerGrant, paths: StagePaths, requestId: string): Record<string, string> {
  return {
    ...grant.environment,
    HOME: paths.home,
    TMPDIR: paths.temporary,
    IDUNN_INPUTS: paths.inputs,
    [STEP_MARK]: requestId,
  };
}
