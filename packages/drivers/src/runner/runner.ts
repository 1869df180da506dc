import { type ChildProcess, spawn } from 'node:child_process';
import { ok } from '@idunn/kernel';
import type { HostNativeGrant, RunnerPort } from '@idunn/release';
import type { Aftermath, Confinement } from './confinement.ts';
import { onlyThese, withNothing } from './descriptors.ts';
import { stepEnvironment, stepMark } from './environment.ts';
import { endLeftovers } from './leftovers.ts';
import { runStep, type StepSurroundings } from './step.ts';

export type HostRunnerOptions = StepSurroundings;

/** The runner port of one kind of grant; `createRunner` chooses among them. */
export interface RunnerOf<Grant> extends Pick<RunnerPort, 'endAll'> {
  run(
    request: Parameters<RunnerPort['run']>[0] & { readonly grant: Grant },
    signal: AbortSignal,
    line: (text: string) => void,
  ): ReturnType<RunnerPort['run']>;
}

/**
 * Runs steps on this machine as Idunn's own user: by argv, with a clean environment and limits on time and output. It
 * does not confine a hostile build; that is for runners that can.
 */
export function createHostRunner(options: HostRunnerOptions): RunnerOf<HostNativeGrant> {
  return {
    endAll: (stage) => endLeftovers(stepMark(stage)),
    run: (request, signal, line) => runStep(options, onHost, request, signal, line),
  };
}

const onHost: Confinement<HostNativeGrant> = {
  async start({ request, grant, paths, program, directory }) {
    const [name, ...words] = request.step.argv;
    const child = withNothing((nothing) =>
      spawn(program, words, {
        cwd: directory,
        env: stepEnvironment(grant, paths, request),
        argv0: name,
        detached: true,
        stdio: onlyThese(['ignore', 'pipe', 'pipe'], nothing),
      }),
    );
    return ok({
      child,
      kill: () => killGroup(child),
      async cleared() {
        await endLeftovers(stepMark(request.stage, request.requestId));
        return NOTHING_MORE;
      },
    });
  },
};

const NOTHING_MORE: Aftermath = { contacted: [], note: null, stuck: false, ended: (exit) => exit };

/** Only before the leader was reaped does its number surely name its group (F12). */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
