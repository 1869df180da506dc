import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

const BUBBLEWRAP = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'];
/** How long a trial of the sandbox may take, in milliseconds. */
const TRIAL_MS = 10_000;

/** What a rehearsal sees under its own names. */
export interface SandboxView {
  /** Shown in the place of the living state, which nobody inside can reach. */
  readonly copy: string;
  readonly stateRoot: string;
  readonly activationDirectory: string;
  /** Where the rehearser writes what came of it. */
  readonly ownDirectory: string;
  readonly cwd: string;
}

/**
 * Words before argv that give a program its copy under the state's own path, a network with nothing but itself, and
 * everything else to read only. It ends with the daemon that started it, and takes every process along.
 */
export const sandboxWords = (bubblewrap: string, view: SandboxView): readonly string[] =>
  [
    [bubblewrap, '--unshare-net', '--unshare-pid', '--unshare-ipc', '--die-with-parent'],
    ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ['--bind-try', '/tmp', '/tmp', '--bind-try', '/var/tmp', '/var/tmp'],
    ['--bind', view.activationDirectory, view.activationDirectory],
    ['--bind', view.ownDirectory, view.ownDirectory],
    ['--bind', view.copy, view.stateRoot],
    ['--chdir', view.cwd, '--'],
  ].flat();

/** `bwrap`, where this machine lets it make such a sandbox: told by trying. `null` where it does not. */
export async function findSandbox(): Promise<string | null> {
  const bubblewrap = BUBBLEWRAP.find(executable);
  if (bubblewrap === undefined) return null;
  const nowhere = { copy: '/tmp', stateRoot: '/tmp', activationDirectory: '/tmp', ownDirectory: '/tmp', cwd: '/' };
  const [file = '', ...words] = sandboxWords(bubblewrap, nowhere);
  try {
    await run(file, [...words, '/bin/true'], { env: {}, timeout: TRIAL_MS });
    return bubblewrap;
  } catch {
    return null;
  }
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
