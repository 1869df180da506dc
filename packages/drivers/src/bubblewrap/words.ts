import { dirname } from 'node:path';
import { MADE_FILES, PLACES, STEP_USER } from './places.ts';
import { isBelow, type Shown } from './view.ts';

/** Descriptors that bubblewrap is started with, beyond the standard three. */
export const DESCRIPTORS = { words: 3, status: 4, seccomp: 5, made: 6 } as const;

/**
 * How the step becomes nobody. `root`: the sandbox is made by root, and the program is started as an unprivileged
 * user of the machine. `user-namespace`: the sandbox is made in a user namespace of Idunn's own user.
 */
export type Privilege = 'root' | 'user-namespace';

export interface SandboxSite {
  readonly privilege: Privilege;
  readonly shown: readonly Shown[];
  /** Host directories of the stage. */
  readonly stage: { readonly tree: string; readonly inputs: string; readonly home: string; readonly temporary: string };
  /** Relative to the tree; empty for the tree itself. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether a filter of system calls is given on its descriptor. */
  readonly filtered: boolean;
}

/** Bubblewrap's own words; they travel through a pipe, so that no value of the environment is in a command line. */
export function sandboxWords({ privilege, shown, stage, directory, environment, filtered }: SandboxSite): string[] {
  const environmentWords = Object.entries(environment).map(([name, value]) => ['--setenv', name, value]);
  const made = Object.keys(MADE_FILES).map((path, index) => [
    '--perms',
    '0444',
    '--ro-bind-data',
    String(DESCRIPTORS.made + index),
    path,
  ]);
  return [
    separation(privilege),
    ['--die-with-parent', '--new-session', '--clearenv', '--hostname', 'sandbox'],
    ['--json-status-fd', String(DESCRIPTORS.status)],
    filtered ? ['--seccomp', String(DESCRIPTORS.seccomp)] : [],
    ...environmentWords,
    directories([...shown.map(({ destination }) => destination), ...Object.keys(MADE_FILES), PLACES.tree]),
    ...shown.map(shownWords),
    ...made,
    ['--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--bind', stage.tree, PLACES.tree],
    ['--bind', stage.home, PLACES.home],
    ['--bind', stage.temporary, PLACES.temporary],
    ['--ro-bind', stage.inputs, PLACES.inputs],
    ['--remount-ro', '/', '--chdir', directory === '' ? PLACES.tree : `${PLACES.tree}/${directory}`],
  ].flat();
}

/** The directories above the places: bubblewrap would make them for its own user alone. */
function directories(places: readonly string[]): readonly string[] {
  const above = new Set<string>();
  for (const place of places) for (let at = dirname(place); at !== '/'; at = dirname(at)) above.add(at);
  const mounted = (path: string): boolean => places.some((place) => isBelow(path, place));
  return [...above]
    .filter((path) => !mounted(path))
    .toSorted()
    .flatMap((path) => ['--perms', '0755', '--dir', path]);
}

function separation(privilege: Privilege): readonly string[] {
  switch (privilege) {
    case 'root':
      return [...NAMESPACES, '--cap-drop', 'ALL', ...KEPT_FOR_A_MOMENT.flatMap((name) => ['--cap-add', name])];
    case 'user-namespace':
      return [
        '--unshare-all',
        '--unshare-user',
        '--disable-userns',
        '--cap-drop',
        'ALL',
        '--uid',
        String(STEP_USER.uid),
        '--gid',
        String(STEP_USER.gid),
      ];
  }
}

const NAMESPACES = ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'];

/** To enter the tree, which is its user's alone, and for `becomeNobody`, whose end takes them all away. */
const KEPT_FOR_A_MOMENT = ['CAP_DAC_READ_SEARCH', 'CAP_SETUID', 'CAP_SETGID'];

function shownWords(shown: Shown): readonly string[] {
  switch (shown.kind) {
    case 'read-only':
      return ['--ro-bind', shown.source, shown.destination];
    case 'link':
      return ['--symlink', shown.target, shown.destination];
    case 'cover':
      return shown.what === 'file'
        ? ['--ro-bind', '/dev/null', shown.destination]
        : ['--perms', '0755', '--tmpfs', shown.destination, '--remount-ro', shown.destination];
  }
}

/** Before the program: the last privileges go, and with them every capability. */
export function becomeNobody(privilege: Privilege): readonly string[] {
  if (privilege === 'user-namespace') return [];
  const { uid, gid } = STEP_USER;
  return ['/usr/bin/setpriv', '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--inh-caps=-all', '--'];
}

/**
 * Before the program in a user namespace, whose processes alone the kernel then counts (since 5.14). `null`: held by
 * a control group, or not asked for.
 */
export const countProcesses = (limit: number | null): readonly string[] =>
  limit === null ? [] : ['/usr/bin/prlimit', `--nproc=${limit}:${limit}`, '--'];
