import type { ChildProcess } from 'node:child_process';
import { relative } from 'node:path';
import { type Clock, type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { BubblewrapGrant, StepLimits } from '@idunn/release';
import type { Aftermath, Confinement, StartedStep, StepSite } from '../runner/confinement.ts';
import { stepMark, stepRun } from '../runner/environment.ts';
import type { Ended } from '../runner/judge.ts';
import { endLeftovers } from '../runner/leftovers.ts';
import { EGRESS_ENVIRONMENT, egressShown, throughEgress } from './egress/inside.ts';
import { type Egress, openEgress } from './egress/proxy.ts';
import { type GroupMeans, StepGroup } from './group.ts';
import { InitProcess } from './init-process.ts';
import { type Launcher, launchSandbox } from './launch.ts';
import { giveToSteps, showToSteps } from './ownership.ts';
import { PLACES } from './places.ts';
import type { SandboxStatus } from './status.ts';
import { covers, placeProgram, type Shown, systemView } from './view.ts';
import { countProcesses, type Privilege } from './words.ts';

export interface SandboxMeans extends Launcher {
  readonly groups: GroupMeans;
  /** What no mount may show, as it is now: the fleet's directories, states and secrets. */
  readonly hidden: () => readonly string[];
  readonly clock: Clock;
  readonly timers: Timers;
}

type Site = StepSite<BubblewrapGrant>;

/** Bubblewrap's launcher and inner init, and with a network the forwarder and its threads, are no part of a limit. */
const OWN_PROCESSES = 2;
const OWN_WITH_NETWORK = 24;

export const sandboxed = (means: SandboxMeans): Confinement<BubblewrapGrant> => ({
  async start(site) {
    const group = new StepGroup(means.groups, site.request.stage);
    const held = hold(group, allowed(site.grant), means.privilege);
    if (!held.ok) return held;
    const { grant, paths } = site;
    const egress = grant.network === null ? null : await openEgress(paths.root, grant.network, site.line);
    try {
      if (means.privilege === 'root') {
        for (const part of [site.tree, paths.home, paths.temporary]) await giveToSteps(part);
        await showToSteps(paths.inputs);
      }
      const view = await whatIsShown(site, egress, means.hidden());
      return ok(begin(means, site, { group, egress, ...view, counted: held.value }));
    } catch (error) {
      await egress?.close();
      group.remove();
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
      return refused(refusal('step-not-started', `Step ${site.request.step.id}: ${error.message}.`));
    }
  },
});

/** Limits of groups; answers a limit of processes that only the user namespace's own count can hold. */
function hold(group: StepGroup, limits: StepLimits, privilege: Privilege): Outcome<number | null> {
  const held = group.make(limits);
  if (held.ok) return ok(null);
  if (privilege === 'root' || limits.processes === null) return held;
  const others = group.make({ ...limits, processes: null });
  return others.ok ? ok(limits.processes) : others;
}

function allowed({ limits, network }: BubblewrapGrant): StepLimits {
  const own = network === null ? OWN_PROCESSES : OWN_WITH_NETWORK;
  return { ...limits, processes: limits.processes === null ? null : limits.processes + own };
}

/** What a step sees, and where its program is in it. */
interface View {
  readonly shown: readonly Shown[];
  readonly program: string;
}

async function whatIsShown(
  { grant, program, request: { step } }: Site,
  egress: Egress | null,
  hidden: readonly string[],
): Promise<View> {
  const mounts = grant.mounts.map((mount): Shown => ({ kind: 'read-only', ...mount }));
  const view = [...(await systemView()), ...mounts];
  const programs = await Promise.all(
    Object.entries(grant.allowedPrograms).map(async ([name, path]) => ({
      name,
      ...(await placeProgram(name, path, view)),
    })),
  );
  return {
    shown: [
      ...view,
      ...(await covers(view, hidden)),
      ...programs.flatMap((placed) => placed.shown),
      ...(egress === null ? [] : egressShown(egress.socket)),
    ],
    program: programs.find(({ name }) => name === step.argv[0])?.path ?? program,
  };
}

interface Prepared extends View {
  readonly group: StepGroup;
  readonly egress: Egress | null;
  /** A process limit that no group holds. */
  readonly counted: number | null;
}

function begin(means: SandboxMeans, site: Site, prepared: Prepared): StartedStep {
  const { request, paths } = site;
  const { group, egress, shown, program, counted } = prepared;
  const run = stepRun(request.stage, request.requestId);
  const place = {
    shown,
    stage: { ...paths, tree: site.tree },
    directory: relative(site.tree, site.directory),
    environment: {
      ...site.grant.environment,
      HOME: PLACES.home,
      TMPDIR: PLACES.temporary,
      IDUNN_INPUTS: PLACES.inputs,
      IDUNN_STEP: run,
      ...(egress === null ? {} : EGRESS_ENVIRONMENT),
    },
  };
  const command = [
    ...countProcesses(counted),
    ...(egress === null ? [] : throughEgress),
    program,
    ...request.step.argv.slice(1),
  ];
  const { child, status } = launchSandbox(means, place, command, { group, mark: { IDUNN_STEP: run } });
  const init = status.init.then((pid) => (pid === null ? null : InitProcess.of(pid, paths.root, means.clock)));
  return {
    child,
    kill() {
      killLauncher(child);
      group.kill();
      void init.then((found) => found?.kill());
    },
    cleared: () => clear(means, site, prepared, status, init),
  };
}

function killLauncher(child: ChildProcess): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
}

/** The launcher ended: everybody behind it ends now, is seen gone, and what was made for the step goes. */
async function clear(
  means: SandboxMeans,
  { request, grant, paths }: Site,
  { group, egress }: Prepared,
  status: SandboxStatus,
  found: Promise<InitProcess | null>,
): Promise<Aftermath> {
  const init = await found;
  group.kill();
  init?.kill();
  await endLeftovers(stepMark(request.stage, request.requestId));
  const seen = [await group.empty(means.timers), await (init?.gone(means.timers) ?? null)];
  const memoryKills = group.memoryKills();
  group.remove();
  await InitProcess.forget(paths.root);
  await egress?.close();
  const began = await status.began;
  const note =
    memoryKills > 0
      ? `Its memory limit of ${grant.limits.memoryBytes} bytes was reached.`
      : (egress?.refused() ?? null);
  return {
    contacted: egress?.contacted() ?? [],
    note,
    stuck: seen.includes(false),
    ended: (exit) => exitOf(exit, began),
  };
}

/** The launcher carries the program's exit on; when the program never began, the exit is the launcher's own. */
function exitOf(exit: Ended, began: boolean): Ended {
  if (began || exit.error !== null || exit.by !== null) return exit;
  return { ...exit, error: 'bubblewrap could not make its sandbox; its own words are the last lines' };
}
