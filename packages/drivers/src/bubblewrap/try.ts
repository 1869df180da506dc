import { text } from 'node:stream/consumers';
import { type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { StepLimits } from '@idunn/release';
import { findGroupMeans, StepGroup } from './group.ts';
import { launchSandbox } from './launch.ts';
import { seccompFilter } from './seccomp.ts';
import { systemView } from './view.ts';
import { type Privilege } from './words.ts';

/** What sandboxes of this machine can do. */
export interface SandboxAbilities {
  /** Limits of a binding that can be held here; the others are refused by name when a step runs. */
  readonly limits: readonly (keyof StepLimits)[];
  /** Whether system calls are filtered on this architecture. */
  readonly filtered: boolean;
}

export interface SandboxTrial {
  readonly fleet: string;
  /** Absolute path of `bwrap`; `null` where it is not installed. */
  readonly bubblewrap: string | null;
  readonly uid: number;
  readonly timers: Timers;
}

/** Held by the kernel's count of a user namespace where no group can. */
const COUNTED: keyof StepLimits = 'processes';
const ASKED: StepLimits = { memoryBytes: 1_073_741_824, processes: 64, cpuMillis: 1_000 };
const NONE: StepLimits = { memoryBytes: null, processes: null, cpuMillis: null };
const TRIAL_MS = 10_000;
/** No step's stage is called so. */
const NAME = 'trial';

/** Really starts a sandbox with a program that does nothing, and finds which limits can be held. */
export async function trySandbox(trial: SandboxTrial): Promise<Outcome<SandboxAbilities>> {
  const { bubblewrap, timers } = trial;
  if (bubblewrap === null)
    return refused(refusal('bubblewrap-missing', 'The program bwrap is in no directory of PATH.'));
  const privilege: Privilege = trial.uid === 0 ? 'root' : 'user-namespace';
  const seccomp = seccompFilter(process.arch);
  const means = findGroupMeans(trial.fleet);
  const group = new StepGroup(means, NAME);
  const limits = (Object.keys(ASKED) as (keyof StepLimits)[]).filter((limit) => {
    const held = group.make({ ...NONE, [limit]: ASKED[limit] }).ok;
    group.remove();
    return held || (limit === COUNTED && privilege === 'user-namespace');
  });
  const made = group.make(NONE);
  if (!made.ok) return made;
  const site = { shown: await systemView(), stage: NOWHERE, directory: '', environment: {} };
  const { child, status } = launchSandbox({ bubblewrap, privilege, seccomp }, site, ['/usr/bin/true'], {
    group,
    mark: {},
  });
  const cancel = timers.after(TRIAL_MS, () => child.kill('SIGKILL'));
  child.stdout?.resume();
  const said = child.stderr === null ? '' : await text(child.stderr).catch(() => '');
  const began = await status.began;
  cancel();
  await group.empty(timers);
  group.remove();
  if (began) return ok({ limits, filtered: seccomp !== null });
  return refused(refusal('sandbox-not-makeable', `bubblewrap could not make a sandbox: ${said.trim().slice(0, 500)}`));
}

/** It has no stage: what stands for one is only ever read by a program that does nothing. */
const NOWHERE = { tree: '/usr', inputs: '/usr', home: '/usr', temporary: '/usr' };
