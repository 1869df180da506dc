import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Outcome, ok, type Timers } from '@idunn/kernel';
import type { StageId, StepLimits } from '@idunn/release';
import {
  bornInside,
  findGroupRoom,
  type Hierarchy,
  killGroup,
  makeGroup,
  parseHierarchies,
  removeGroup,
  whenEmpty,
} from '../process/control-group.ts';
import { dropLimits, holdLimits } from '../process/limits.ts';
import { END_LIMIT_MS } from './init-process.ts';

/** Where this machine lets the groups of steps be made, found once by trying. */
export interface GroupMeans {
  readonly fleet: string;
  readonly hierarchies: readonly Hierarchy[];
  readonly room: { readonly hierarchy: Hierarchy; readonly path: string } | null;
}

/** Apart from the groups of activations, which belong to programs that outlive the daemon. */
const roomName = (fleet: string): string => `${fleet}-steps`;

export function findGroupMeans(fleet: string): GroupMeans {
  const hierarchies = parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'));
  return { fleet, hierarchies, room: findGroupRoom(hierarchies, roomName(fleet)) };
}

/** The control groups of the one step that may run in a stage. */
export class StepGroup {
  readonly #means: GroupMeans;
  readonly #stage: StageId;
  #groups: readonly { readonly hierarchy: Hierarchy; readonly path: string }[] = [];

  constructor(means: GroupMeans, stage: StageId) {
    this.#means = means;
    this.#stage = stage;
  }

  /** Makes the groups with their limits; refused by name where one cannot be held. */
  make(limits: StepLimits): Outcome<'made'> {
    const { room, hierarchies } = this.#means;
    const unified = room === null ? null : { hierarchy: room.hierarchy, path: join(room.path, this.#stage) };
    if (unified !== null) makeGroup(unified.hierarchy, unified.path);
    const held = holdLimits(limits, { hierarchies, group: unified, name: this.#legacyName, prlimit: null });
    if (!held.ok) {
      this.remove();
      return held;
    }
    this.#groups = [...(unified === null ? [] : [unified]), ...held.value.groups];
    return ok('made');
  }

  /** Whatever `act` spawns is born inside. */
  inside<T>(act: () => T): T {
    return bornInside(this.#groups, act);
  }

  kill(): void {
    const directory = this.#directory;
    if (directory !== null) killGroup(directory);
  }

  /** Whether it was seen empty in time; `null` where there is no group that could tell. */
  async empty(timers: Timers): Promise<boolean | null> {
    const directory = this.#directory;
    return directory === null ? null : (await whenEmpty(directory, END_LIMIT_MS, timers)).kind === 'absent';
  }

  /** How often the kernel ended a process because the memory was used up. */
  memoryKills(): number {
    const memory = this.#groups.find(({ hierarchy }) => hierarchy.name === 'memory');
    const unified = this.#directory;
    const file =
      memory === undefined
        ? unified === null
          ? null
          : join(unified, 'memory.events')
        : join(memory.hierarchy.mount, memory.path, 'memory.oom_control');
    return file === null ? 0 : countOf(file, 'oom_kill');
  }

  remove(): void {
    const directory = this.#directory;
    if (directory !== null) removeGroup(directory);
    dropLimits({ hierarchies: this.#means.hierarchies, name: this.#legacyName });
  }

  get #directory(): string | null {
    const { room } = this.#means;
    return room === null ? null : join(room.hierarchy.mount, room.path, this.#stage);
  }

  get #legacyName(): string {
    return join(`idunn-${roomName(this.#means.fleet)}`, this.#stage);
  }
}

function countOf(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
