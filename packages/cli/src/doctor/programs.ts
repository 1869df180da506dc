import { execFile } from 'node:child_process';
import { access, constants, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { DoctorCheck } from '@idunn/client';
import { bad, good, note, unknown, why } from './check.ts';

const run = promisify(execFile);

const GIT_ANSWER_MS = 5_000;

export const nodeVersion = (version: string): DoctorCheck =>
  Number(version.split('.')[0]) >= 24
    ? good('node', `version ${version}`)
    : bad('node', `version ${version} is too old`, 'Install Node 24 or newer.');

export async function git(): Promise<DoctorCheck> {
  try {
    const { stdout } = await run('git', ['--version'], { timeout: GIT_ANSWER_MS });
    return good('git', stdout.trim());
  } catch (error) {
    return bad('git', `git cannot be run: ${why(error)}`, 'Install git, for example with apt-get install git.');
  }
}

/** Where a control group can be made, the end of a whole process tree can be proven (`tree-empty`). */
export async function controlGroups(): Promise<DoctorCheck> {
  try {
    const own = /^0::(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1];
    const mount = /^\S+ (\S+) cgroup2 /m.exec(await readFile('/proc/mounts', 'utf8'))?.[1];
    if (own === undefined || mount === undefined) return noGroups('this machine has no unified control groups');
    const directory = `${mount}${own === '/' ? '' : own}`;
    const writable = await access(directory, constants.W_OK).then(
      () => true,
      () => false,
    );
    return writable
      ? good('control groups', `${directory} can hold groups of ours`)
      : noGroups(`${directory} is not ours to write`);
  } catch (error) {
    return unknown('control groups', why(error));
  }
}

const noGroups = (because: string): DoctorCheck =>
  note(
    'control groups',
    `${because}; the end of a process tree is proven only for a binding that declares a single process`,
    'Run the daemon in a delegated control group (systemd: Delegate=yes).',
  );

export const separation = (): DoctorCheck =>
  note(
    'user separation',
    'which user runs what is told by the daemon; as one user, I1 and I2 hold against crashes and bugs only',
  );
