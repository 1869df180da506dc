import { type Outcome, refusal, refused } from '@idunn/kernel';
import { type BubblewrapGrant, stagePaths } from '@idunn/release';
import { stepMark } from '../runner/environment.ts';
import { endLeftovers } from '../runner/leftovers.ts';
import type { RunnerOf } from '../runner/runner.ts';
import { runStep, type StepSurroundings } from '../runner/step.ts';
import { sandboxed } from './confine.ts';
import { forgetSocket } from './egress/socket.ts';
import { findGroupMeans, StepGroup } from './group.ts';
import { InitProcess } from './init-process.ts';
import { seccompFilter } from './seccomp.ts';

export interface BubblewrapRunnerOptions extends StepSurroundings {
  readonly fleet: string;
  /** Absolute path of `bwrap`; `null` where it is not installed. */
  readonly bubblewrap: string | null;
  /** The user that Idunn runs as. */
  readonly uid: number;
  /** What no sandbox may show, as it is now: the fleet's directories, states and secrets; absolute paths. */
  readonly hidden: () => readonly string[];
}

/**
 * Runs each step in a sandbox of its own by bubblewrap: as nobody, without capabilities, in fresh namespaces, with a
 * read-only view of the system's programs and the pinned inputs, the staged tree as the only place to leave anything,
 * a filter of system calls, limits of a control group, and no network but the admitted places of its profile.
 */
export function createBubblewrapRunner(options: BubblewrapRunnerOptions): RunnerOf<BubblewrapGrant> {
  const { bubblewrap, fleet, stages, clock, timers, hidden } = options;
  // Looked for at the first step: a fleet that binds no sandbox moves in no group.
  let groups: ReturnType<typeof findGroupMeans> | null = null;
  const means = () => (groups ??= findGroupMeans(fleet));

  return {
    async endAll(stage) {
      const { root } = stagePaths(stages, stage);
      const init = await InitProcess.leftIn(root, clock);
      // Without a record no sandbox runs that the mark could not find: nothing of a group is looked for.
      const group = init === null ? null : new StepGroup(means(), stage);
      group?.kill();
      init?.kill();
      await endLeftovers(stepMark(stage));
      await group?.empty(timers);
      await init?.gone(timers);
      group?.remove();
      await InitProcess.forget(root);
      await forgetSocket(root);
    },

    async run(request, signal, line) {
      if (bubblewrap === null) return notInstalled(request.step.id);
      const confinement = sandboxed({
        bubblewrap,
        privilege: options.uid === 0 ? 'root' : 'user-namespace',
        groups: means(),
        seccomp: seccompFilter(process.arch),
        hidden,
        clock,
        timers,
      });
      return runStep(options, confinement, request, signal, line);
    },
  };
}

const notInstalled = (step: string): Outcome<never> =>
  refused(refusal('bubblewrap-missing', `Step ${step} is bound to bubblewrap, which is not installed.`));
