import { join } from 'node:path';
import type { LaunchRequest, WorkloadHandle } from '@idunn/authority';
import { digestJson, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { LaunchContract } from '@idunn/release';
import { type ActivationFiles, isSegment } from './activation-directory.ts';
import { type Hierarchy, makeGroup, removeGroup } from './control-group.ts';
import { readOwnIfThere } from './files.ts';
import { findProcess } from './find.ts';
import { type LauncherBirth, orderLauncher } from './gate/launcher-birth.ts';
import { whenStanding } from './gate/open-gate.ts';
import { identify, type Standpoint } from './identity.ts';
import { ALIVE_DESCRIPTOR, ALIVE_PAST_LAUNCHER, type Birth, giveBirth, notStartable, whenExeced } from './launch.ts';
import { type LaunchWords, launchWords } from './launch-words.ts';
import { dropLimits, holdLimits, type LimitPlan } from './limits.ts';
import type { ProcessDriverOptions } from './options.ts';
import { whyNoProgram } from './program-file.ts';
import { readTicket, recordProcess, type Ticket, takeTicket } from './ticket.ts';
import { ownerOf } from './user/give.ts';
import { type RunsAs, userWords } from './user/words.ts';

/** What this machine offers, found once. */
export interface Machine {
  readonly from: Standpoint;
  readonly hierarchies: readonly Hierarchy[];
  /** Where the fleet's groups are made; `null` where none can be. */
  readonly room: { readonly hierarchy: Hierarchy; readonly path: string } | null;
  readonly prlimit: string | null;
}

export interface StartSite {
  readonly options: ProcessDriverOptions;
  readonly machine: Machine;
  readonly files: ActivationFiles;
  readonly log: string;
  /** Puts another program in front of the launch contract's own. */
  readonly dress?: (words: LaunchWords) => Promise<LaunchWords>;
  /** The child of this daemon ended; its identity decides what that means. */
  readonly onExit: (code: number | null, signal: string | null) => void;
}

/** Starts the program of an activation once, ever: an earlier start is found and returned (I1, I6). */
export async function startProgram(request: LaunchRequest, site: StartSite): Promise<Outcome<WorkloadHandle>> {
  const { activation } = request.activation;
  const { files, machine } = site;
  if (readOwnIfThere(files.launch) === null) {
    return refused(refusal('activation-not-minted', `Activation ${activation} has no launch document.`));
  }
  const expectedGroup = groupOf(machine, activation);
  const unified = machine.room?.hierarchy ?? null;
  const earlier = await findProcess({ activation, files, from: machine.from, unified, expectedGroup });
  if (earlier.kind === 'seen' && earlier.value.main === 'alive') {
    return ok(handleOf(request.target, activation, earlier.value.identity, files));
  }
  if (earlier.kind === 'unknown') {
    return refused(refusal('activation-start-unknown', `Activation ${activation}: ${earlier.because}.`));
  }
  if (earlier.kind === 'seen' || readTicket(files) !== null) return spent(activation);
  return startFirst(request, site, expectedGroup);
}

async function startFirst(
  request: LaunchRequest,
  site: StartSite,
  group: string | null,
): Promise<Outcome<WorkloadHandle>> {
  const { files, machine, options } = site;
  const { activation } = request.activation;
  const words = launchWords({
    launch: request.launch,
    state: request.state,
    activation: request.activation,
    activationDirectory: files.directory,
    artifactFile: (artifact, path) => options.artifactFile(request.release, artifact, path),
  });
  if (!words.ok) return words;
  const [program] = words.value.argv;
  const because = whyNoProgram(program);
  if (because !== null) return notStartable(program, because);
  const prepared = prepareGroups(request.launch, activation, machine, group, options.fleet);
  if (!prepared.ok) return prepared;
  const { groups, wrapper } = prepared.value;
  const runs = await runsAs(request, files);
  const become = userWords(runs);
  const ordered =
    request.start === 'gated' ? await orderLauncher(request, words.value, wrapper, files, runs) : ok(null);
  if (!ordered.ok) {
    clearGroups(activation, machine, group, options.fleet);
    return ordered;
  }
  const launcher = ordered.value;
  const ticket = ticketFor(request, words.value, machine.from, group, launcher, runs);
  if (!(await takeTicket(files, ticket))) return spent(activation);
  const birth: Birth = {
    files,
    log: site.log,
    groups,
    ...(launcher === null
      ? site.dress === undefined
        ? { words: words.value, wrapper: [...wrapper, ...become], aliveAt: ALIVE_DESCRIPTOR }
        : { words: await site.dress(words.value), wrapper, aliveAt: ALIVE_DESCRIPTOR }
      : { words: launcher.words, wrapper: become, aliveAt: ALIVE_PAST_LAUNCHER }),
  };
  const child = await giveBirth(birth);
  if (!child.ok) {
    clearGroups(activation, machine, group, options.fleet);
    return child;
  }
  const identity = identify(child.value.pid, group, machine.from);
  child.value.on('exit', site.onExit);
  if (identity.kind !== 'seen') return notStartable(program, 'it ended before it could be identified');
  const handle: WorkloadHandle = {
    version: 1,
    driver: 'process',
    target: request.target,
    activation,
    identity: identity.value,
    argv: ticket.argv,
  };
  const { timers } = options;
  await Promise.all([
    recordProcess(files, identity.value),
    // A launcher that ends on the way to its gate is as dead as any other: its death is what is told.
    launcher === null
      ? whenExeced(child.value.pid, [wrapper, become], timers)
      : whenStanding(handle, { files, from: machine.from, timers }),
  ]);
  return ok(handle);
}

/** Makes the activation's groups and sets its limits; on a refusal nothing of them is left. */
function prepareGroups(
  launch: LaunchContract,
  activation: string,
  machine: Machine,
  group: string | null,
  fleet: string,
): Outcome<LimitPlan> {
  if (!isSegment(activation)) throw new TypeError('an activation id is one plain path segment');
  const unified = machine.room === null || group === null ? null : { hierarchy: machine.room.hierarchy, path: group };
  if (unified !== null) makeGroup(unified.hierarchy, unified.path);
  const held = holdLimits(launch.limits, {
    hierarchies: machine.hierarchies,
    group: unified,
    name: legacyName(fleet, activation),
    prlimit: machine.prlimit,
  });
  if (!held.ok) clearGroups(activation, machine, group, fleet);
  return held.ok && unified !== null ? ok({ ...held.value, groups: [unified, ...held.value.groups] }) : held;
}

/** Removes the groups of an activation that are empty. */
export function clearGroups(activation: string, machine: Machine, group: string | null, fleet: string): void {
  if (machine.room !== null && group !== null) removeGroup(join(machine.room.hierarchy.mount, group));
  dropLimits({ hierarchies: machine.hierarchies, name: legacyName(fleet, activation) });
}

/** Where an activation's group would be; `null` where none can be made. */
export const groupOf = ({ room }: Machine, activation: string): string | null =>
  room === null ? null : join(room.path, activation);

const legacyName = (fleet: string, activation: string): string => join(`idunn-${fleet}`, activation);

function ticketFor(
  request: LaunchRequest,
  words: LaunchWords,
  from: Standpoint,
  group: string | null,
  launcher: LauncherBirth | null,
  runs: RunsAs | null,
): Ticket {
  const { launch, state } = request;
  return {
    schema: 'idunn.process-ticket/v1',
    activation: request.activation.activation,
    target: request.target,
    release: request.release,
    ...from,
    controlGroup: group,
    singleProcess: launch.singleProcess,
    argv: digestJson(words.argv),
    entry: words.entry,
    log: { bytes: launch.limits.logBytes, files: launch.limits.logFiles },
    ...(launcher === null ? {} : { gate: launcher.gate }),
    ...(runs === null ? {} : { runs, alone: isAlone(request), ...(state === null ? {} : { state }) }),
  };
}

/** Two users take turns; what waits at a gate runs when the one before it is gone. */
const isAlone = ({ launch, start }: LaunchRequest): boolean => launch.identity?.users.length === 2 || start === 'gated';

/** The user that the mint chose is whose the activation's directory is. */
export async function runsAs({ launch, state }: LaunchRequest, files: ActivationFiles): Promise<RunsAs | null> {
  const { identity } = launch;
  if (identity === undefined) return null;
  const uid = await ownerOf(files.directory);
  if (uid === null || !identity.users.some((user) => user.uid === uid)) {
    throw new Error(`${files.directory} belongs to user ${uid}, whom the plan does not name`);
  }
  return { uid, gid: identity.group.gid, stateGid: state?.group?.gid ?? null };
}

/** The handle of a process that was found again. */
export function handleOf(
  target: string,
  activation: string,
  identity: WorkloadHandle['identity'],
  files: ActivationFiles,
): WorkloadHandle {
  const ticket = readTicket(files);
  const argv = ticket === null || ticket === 'damaged' ? {} : { argv: ticket.argv };
  return { version: 1, driver: 'process', target, activation, identity, ...argv };
}

const spent = (activation: string): Outcome<never> =>
  refused(refusal('activation-spent', `The program of activation ${activation} was started before and has ended.`));
