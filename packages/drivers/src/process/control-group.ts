import { mkdirSync, readdirSync, readFileSync, rmdirSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { absent, type Evidence, seen, type Timers, unknown } from '@idunn/kernel';
import { isErrno, messageOf } from './proc.ts';

/** A mounted control group hierarchy and where this process stands in it. */
export interface Hierarchy {
  /** `unified`, or the name of a version 1 controller. */
  readonly name: string;
  readonly mount: string;
}

/** Takes /proc/self/mountinfo apart: the unified hierarchy and each version 1 controller, as mounted here. */
export function parseHierarchies(mountinfo: string): readonly Hierarchy[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const mount = left.split(' ')[4];
    const [kind, , options = ''] = right.split(' ');
    if (mount === undefined) return [];
    if (kind === 'cgroup2') return [{ name: 'unified', mount }];
    return kind === 'cgroup' ? options.split(',').map((name) => ({ name, mount })) : [];
  });
}

/** This process's own group in a hierarchy, from /proc/self/cgroup; `null` when it has none. */
export function ownGroup(
  hierarchy: Hierarchy,
  text: string = readFileSync('/proc/self/cgroup', 'utf8'),
): string | null {
  for (const line of text.split('\n')) {
    const [, controllers = '', ...path] = line.split(':');
    const fits = hierarchy.name === 'unified' ? controllers === '' : controllers.split(',').includes(hierarchy.name);
    if (fits && path.length > 0) return path.join(':');
  }
  return null;
}

/**
 * Runs `act` while this process stands in `groups`, so that what it spawns is born inside them, and comes back. All
 * of it is synchronous: nothing else of this process can be born meanwhile.
 */
export function bornInside<T>(groups: readonly { hierarchy: Hierarchy; path: string }[], act: () => T): T {
  const homes: { hierarchy: Hierarchy; path: string }[] = [];
  try {
    for (const group of groups) {
      homes.push({ hierarchy: group.hierarchy, path: ownGroup(group.hierarchy) ?? '/' });
      enter(group.hierarchy, group.path);
    }
    return act();
  } finally {
    for (const home of homes) goHome(home.hierarchy, home.path);
  }
}

function goHome(hierarchy: Hierarchy, path: string): void {
  try {
    enter(hierarchy, path);
  } catch {
    // The former group was removed meanwhile; the hierarchy's root always stands.
    enter(hierarchy, '/');
  }
}

/** `0` is the writer itself, in whatever namespace. */
const enter = (hierarchy: Hierarchy, path: string): void =>
  writeFileSync(join(hierarchy.mount, path, 'cgroup.procs'), '0');

/**
 * Finds a place for a fleet's groups by trying it: the unified hierarchy's root, else this process's own group. `null`
 * where neither lets us make a group and move in and out; such a machine has no `tree-empty` by group.
 */
export function findGroupRoom(
  hierarchies: readonly Hierarchy[],
  fleet: string,
): { hierarchy: Hierarchy; path: string } | null {
  const hierarchy = hierarchies.find((candidate) => candidate.name === 'unified');
  if (hierarchy === undefined) return null;
  const bases = new Set(['/', ownGroup(hierarchy) ?? '/']);
  for (const base of bases) {
    const path = join(base, `idunn-${fleet}`);
    const probe = join(path, `probe-${process.pid}`);
    try {
      mkdirSync(join(hierarchy.mount, probe), { recursive: true });
      bornInside([{ hierarchy, path: probe }], () => undefined);
      rmdirSync(join(hierarchy.mount, probe));
      return { hierarchy, path };
    } catch {
      // Read-only, not delegated, or limited: the next place is tried.
    }
  }
  return null;
}

/** Makes a group, and those above it that are missing. */
export function makeGroup(hierarchy: Hierarchy, path: string): void {
  mkdirSync(join(hierarchy.mount, path), { recursive: true });
}

/** Sets one of a group's files, such as `memory.max`. Throws what the kernel says. */
export function setGroup(hierarchy: Hierarchy, path: string, file: string, value: number): void {
  writeFileSync(join(hierarchy.mount, path, file), String(value));
}

/** Every process in the directory's group and the groups below it. A group that is not there holds nobody. */
export function members(directory: string): readonly number[] {
  const own = readIfThere(join(directory, 'cgroup.procs'));
  if (own === null) return [];
  return [...own.split('\n').filter(Boolean).map(Number), ...children(directory).flatMap((child) => members(child))];
}

/** Whether anybody lives in the tree: the kernel's own word, zombies and their threads rightly counted. */
export function populated(directory: string): Evidence<'populated'> {
  try {
    const events = readIfThere(join(directory, 'cgroup.events'));
    // Only an empty group can be removed.
    if (events === null) return absent;
    return /^populated 0$/m.test(events) ? absent : seen('populated');
  } catch (error) {
    return unknown(messageOf(error));
  }
}

/** SIGKILL to everybody in the tree at once; a process that is being born is killed too. */
export function killGroup(directory: string): void {
  if (members(directory).includes(process.pid)) throw new Error(`this process stands in ${directory}`);
  try {
    writeFileSync(join(directory, 'cgroup.kill'), '1');
  } catch (error) {
    if (isErrno(error, 'ENODEV')) return;
    if (!isErrno(error, 'ENOENT', 'EACCES')) throw error;
    killFrozen(directory);
  }
}

/** Kernels before 5.14: frozen processes cannot fork, and SIGKILL reaches them. */
function killFrozen(directory: string): void {
  if (readIfThere(join(directory, 'cgroup.freeze')) === null) return;
  writeFileSync(join(directory, 'cgroup.freeze'), '1');
  for (const pid of members(directory)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (!isErrno(error, 'ESRCH')) throw error;
    }
  }
  writeFileSync(join(directory, 'cgroup.freeze'), '0');
}

/** Removes an empty group and the empty groups below it; what still holds somebody stays. */
export function removeGroup(directory: string): void {
  if (readIfThere(join(directory, 'cgroup.procs')) === null) return;
  for (const child of children(directory)) removeGroup(child);
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!isErrno(error, 'EBUSY', 'ENOENT')) throw error;
  }
}

/** How often the group is looked at where the kernel's events cannot be watched. */
const POLL_MS = 20;

/**
 * Resolves when the tree is empty or `withinMs` has passed, with what was then seen (F25: as soon as the evidence is
 * there).
 */
export function whenEmpty(directory: string, withinMs: number, timers: Timers): Promise<Evidence<'populated'>> {
  return new Promise((resolve) => {
    let poll = (): void => {};
    const closeEvents = onEvents(directory, () => look());
    const withdraw = timers.after(withinMs, () => finish());
    const finish = (): void => {
      poll();
      closeEvents?.();
      withdraw();
      resolve(populated(directory));
    };
    const look = (): void => {
      if (populated(directory).kind === 'absent') finish();
      else if (closeEvents === null) poll = timers.after(POLL_MS, look);
    };
    look();
  });
}

function onEvents(directory: string, listener: () => void): (() => void) | null {
  try {
    const watcher = watch(join(directory, 'cgroup.events'), listener);
    watcher.on('error', listener);
    return () => watcher.close();
  } catch {
    return null;
  }
}

const children = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(directory, entry.name));

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENODEV')) return null;
    throw error;
  }
}

/** Turns a controller on for the groups below `directory`, as far up as it is missing; true when it is there. */
export function delegateController(hierarchy: Hierarchy, path: string, controller: string): boolean {
  const directory = join(hierarchy.mount, path);
  const has = (at: string): boolean =>
    (readIfThere(join(at, 'cgroup.controllers')) ?? '').trim().split(' ').includes(controller);
  if (has(directory)) return true;
  if (path === '/' || !delegateController(hierarchy, dirname(path), controller)) return false;
  try {
    writeFileSync(join(dirname(directory), 'cgroup.subtree_control'), `+${controller}`);
  } catch {
    return false;
  }
  return has(directory);
}
