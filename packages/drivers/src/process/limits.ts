import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ResourceLimits } from '@idunn/release';
import { delegateController, type Hierarchy, makeGroup, removeGroup, setGroup } from './control-group.ts';

/** How the limits of one activation are held: groups to be born in, and words to put before argv. */
export interface LimitPlan {
  readonly groups: readonly { readonly hierarchy: Hierarchy; readonly path: string }[];
  /** `prlimit …`, which execs and so keeps the pid; empty without a need. */
  readonly wrapper: readonly string[];
}

/** Where a limit can be held on this machine. */
export interface LimitMeans {
  readonly hierarchies: readonly Hierarchy[];
  /** The activation's group in the unified hierarchy; `null` where there is none. */
  readonly group: { readonly hierarchy: Hierarchy; readonly path: string } | null;
  /** Name of the version 1 groups, `idunn-FLEET/ACTIVATION`. */
  readonly name: string;
  /** Absolute path of `prlimit`; `null` where it is not installed. */
  readonly prlimit: string | null;
}

/** What can be held for a tree of processes; a limit that is absent is none. */
export interface TreeLimits extends Partial<Pick<ResourceLimits, 'memoryBytes' | 'processes' | 'openFiles'>> {
  /** Thousandths of one core. */
  readonly cpuMillis?: number | null;
}

/** `unit`: how much of the file's unit one of ours is; quotas are microseconds of a period of 100 ms. */
const CONTROLLED = [
  { limit: 'memoryBytes', controller: 'memory', unified: 'memory.max', legacy: 'memory.limit_in_bytes', unit: 1 },
  { limit: 'processes', controller: 'pids', unified: 'pids.max', legacy: 'pids.max', unit: 1 },
  { limit: 'cpuMillis', controller: 'cpu', unified: 'cpu.max', legacy: 'cpu.cfs_quota_us', unit: 100 },
] as const;

/** The version 1 controllers that an activation may have a group in. */
const LEGACY = CONTROLLED.map((controlled) => controlled.controller as string);

/** Sets the limits up before the start. A limit that cannot be held is refused by name, never ignored. */
export function holdLimits(limits: TreeLimits, means: LimitMeans): Outcome<LimitPlan> {
  const groups: { hierarchy: Hierarchy; path: string }[] = [];
  for (const { limit, controller, unified, legacy, unit } of CONTROLLED) {
    const asked = limits[limit] ?? null;
    if (asked === null) continue;
    const value = asked * unit;
    if (means.group !== null && delegateController(means.group.hierarchy, means.group.path, controller)) {
      setGroup(means.group.hierarchy, means.group.path, unified, value);
      continue;
    }
    const hierarchy = means.hierarchies.find((candidate) => candidate.name === controller);
    const path = hierarchy && makeLegacyGroup(hierarchy, means.name, legacy, value);
    if (hierarchy === undefined || path === undefined) return notEnforceable(limit);
    groups.push({ hierarchy, path });
  }
  const wrapper = openFilesWords(limits, means.prlimit);
  return wrapper.ok ? ok({ groups, wrapper: wrapper.value }) : wrapper;
}

/** Words before argv that hold the limit of open files; none without one. */
export function openFilesWords({ openFiles = null }: TreeLimits, prlimit: string | null): Outcome<readonly string[]> {
  if (openFiles === null) return ok([]);
  return prlimit === null ? notEnforceable('openFiles') : ok([prlimit, `--nofile=${openFiles}:${openFiles}`, '--']);
}

function makeLegacyGroup(hierarchy: Hierarchy, name: string, file: string, value: number): string | undefined {
  try {
    makeGroup(hierarchy, name);
    setGroup(hierarchy, name, file, value);
    return `/${name}`;
  } catch {
    return undefined;
  }
}

/** Removes what `holdLimits` made outside the unified hierarchy. */
export function dropLimits(means: Pick<LimitMeans, 'hierarchies' | 'name'>): void {
  for (const hierarchy of means.hierarchies) {
    if (LEGACY.includes(hierarchy.name)) removeGroup(join(hierarchy.mount, means.name));
  }
}

/** The first `prlimit` that may be run. */
export function findPrlimit(): string | null {
  return ['/usr/bin/prlimit', '/bin/prlimit'].find(executable) ?? null;
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const notEnforceable = (limit: string): Outcome<never> =>
  refused(refusal('limit-not-enforceable', `The limit ${limit} cannot be enforced on this machine.`));
