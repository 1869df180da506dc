import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { onlyThese, withNothing } from '../runner/descriptors.ts';
import type { StepGroup } from './group.ts';
import { MADE_FILES } from './places.ts';
import { readStatus, type SandboxStatus } from './status.ts';
import { becomeNobody, DESCRIPTORS, type Privilege, type SandboxSite, sandboxWords } from './words.ts';

export interface Launcher {
  /** Absolute path of `bwrap`. */
  readonly bubblewrap: string;
  readonly privilege: Privilege;
  /** The filter of system calls; `null` where this architecture has none. */
  readonly seccomp: Buffer | null;
}

export interface Launched {
  readonly child: ChildProcess;
  readonly status: SandboxStatus;
}

/** Starts a command in a sandbox of its own, born inside the group; `mark` is the launcher's whole environment. */
export function launchSandbox(
  { bubblewrap, privilege, seccomp }: Launcher,
  site: Omit<SandboxSite, 'privilege' | 'filtered'>,
  command: readonly string[],
  { group, mark }: { readonly group: StepGroup; readonly mark: Readonly<Record<string, string>> },
): Launched {
  const words = sandboxWords({ ...site, privilege, filtered: seccomp !== null });
  const made = Object.values(MADE_FILES);
  const pipes = made.map(() => 'pipe' as const);
  const child = withNothing((nothing) =>
    group.inside(() =>
      spawn(bubblewrap, ['--args', String(DESCRIPTORS.words), '--', ...becomeNobody(privilege), ...command], {
        // The launcher is known by it; the program's own environment comes from the words.
        env: mark,
        cwd: '/',
        detached: true,
        stdio: onlyThese(['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', ...pipes], nothing),
      }),
    ),
  );
  give(child, DESCRIPTORS.words, `${words.join('\0')}\0`);
  give(child, DESCRIPTORS.seccomp, seccomp ?? '');
  for (const [index, text] of made.entries()) give(child, DESCRIPTORS.made + index, text);
  return { child, status: readStatus(child.stdio[DESCRIPTORS.status] as Readable | null) };
}

/** Hands the launcher bytes; one that is gone already does not take them, and its exit says why. */
function give(child: ChildProcess, descriptor: number, bytes: string | Buffer): void {
  const pipe = child.stdio[descriptor] as Writable | null | undefined;
  pipe?.on('error', () => undefined);
  pipe?.end(bytes);
}
