import type { RunnerGrant, RunRequest, StageId, StagePaths } from '@idunn/release';

/**
 * By this line of its environment a process of a step is known again, also when it left its process group; without a
 * request it begins the line of every process that was started in the stage.
 */
export const stepMark = (stage: StageId, requestId = ''): string => `IDUNN_STEP=${stepRun(stage, requestId)}`;

/** The value of the mark. */
export const stepRun = (stage: StageId, requestId: string): string => `${stage}/${requestId}`;

/** The whole environment of a step: what the binding grants and Idunn's own directories; nothing is inherited. */
export function stepEnvironment(
  grant: RunnerGrant,
  paths: StagePaths,
  { stage, requestId }: Pick<RunRequest, 'stage' | 'requestId'>,
): Record<string, string> {
  return {
    ...grant.environment,
    HOME: paths.home,
    TMPDIR: paths.temporary,
    IDUNN_INPUTS: paths.inputs,
    IDUNN_STEP: stepRun(stage, requestId),
  };
}
