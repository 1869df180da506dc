import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { ActivationFiles } from './activation-directory.ts';
import { bornInside, type Hierarchy } from './control-group.ts';
import { closeEnds, openBothEnds } from './death-pipe.ts';
import type { LaunchWords } from './launch-words.ts';
import { isErrno, messageOf } from './proc.ts';

export interface Birth {
  readonly words: LaunchWords;
  readonly files: ActivationFiles;
  readonly log: string;
  /** Every group that the program is to be born in. */
  readonly groups: readonly { readonly hierarchy: Hierarchy; readonly path: string }[];
  readonly wrapper: readonly string[];
  /** The fifo's write end in the child. */
  readonly aliveAt: typeof ALIVE_DESCRIPTOR | typeof ALIVE_PAST_LAUNCHER;
}

/** Where a program inherits the fifo that tells its death. */
export const ALIVE_DESCRIPTOR = 3;
/**
 * The same through a launcher. Node marks what it inherited below 16, and on up to the first number that is not open,
 * to be closed on exec; what lies beyond a gap goes through to the program.
 */
export const ALIVE_PAST_LAUNCHER = 20;

/** Opens a program's log for appending; the directory is the target's own. */
export function openLog(log: string): number {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  return openSync(log, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600);
}

/**
 * Spawns the program, detached, inside its groups, with the fifo's write end and nothing else of ours.
 * The clean environment is the contract's (F30). Nobody waits here: pid and death are known at once.
 */
export async function giveBirth(birth: Birth): Promise<Outcome<ChildProcess & { readonly pid: number }>> {
  const [program, ...args] = [...birth.wrapper, ...birth.words.argv];
  const log = openLog(birth.log);
  const ends = openBothEnds(birth.files.alive);
  try {
    const child = bornInside(birth.groups, () =>
      spawn(program as string, args, {
        cwd: birth.words.cwd,
        env: { ...birth.words.environment },
        detached: true,
        stdio: ['ignore', log, log, ...unopened(birth.aliveAt - ALIVE_DESCRIPTOR), ends.write],
      }),
    );
    child.unref();
    if (hasPid(child)) return ok(child.on('error', () => {}));
    const error = await new Promise<Error>((resolve) => child.once('error', resolve));
    return notStartable(birth.words.argv[0], messageOf(error));
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EACCES', 'E2BIG', 'ENOMEM', 'EAGAIN')) throw error;
    return notStartable(birth.words.argv[0], messageOf(error));
  } finally {
    closeSync(log);
    closeEnds(ends);
  }
}

/** Numbers above the standard three that stay closed in the child. */
const unopened = (count: number): readonly 'ignore'[] => Array.from({ length: count }, () => 'ignore');

const hasPid = (child: ChildProcess): child is ChildProcess & { readonly pid: number } => child.pid !== undefined;

export const notStartable = (program: string, because: string): Outcome<never> =>
  refused(refusal('program-not-startable', `The program ${program} cannot be started: ${because}.`));

/** Looks at the exec of the wrapper: so often, in milliseconds, and so many times. */
const EXEC_LOOK_MS = 1;
const EXEC_LOOKS = 1_000;

/** Resolves when the last of the wrappers has become the program, or is gone. */
export function whenExeced(pid: number, wrappers: readonly (readonly string[])[], timers: Timers): Promise<void> {
  const programs = wrappers.flatMap(([program]) => (program === undefined ? [] : [basename(program)]));
  if (programs.length === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const look = (left: number): void => {
      if (left === 0 || !isStill(pid, programs)) resolve();
      else timers.after(EXEC_LOOK_MS, () => look(left - 1));
    };
    look(EXEC_LOOKS);
  });
}

function isStill(pid: number, programs: readonly string[]): boolean {
  try {
    const running = readlinkSync(`/proc/${pid}/exe`);
    return programs.includes(basename(running));
  } catch {
    return false;
  }
}
