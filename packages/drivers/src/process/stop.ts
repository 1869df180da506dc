import { join } from 'node:path';
import type { StopAnswer, WorkloadHandle } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import { carriersOf } from './carriers.ts';
import { type Hierarchy, killGroup, members, populated, whenEmpty } from './control-group.ts';
import { watchPipe } from './death-pipe.ts';
import { identify, type Standpoint, signal, vital } from './identity.ts';

export interface StopSite {
  readonly from: Standpoint;
  readonly timers: Timers;
  readonly unified: Hierarchy | null;
  readonly fifo: string;
  /** The binding's word, kept in the ticket. */
  readonly singleProcess: boolean;
  /** How long what SIGKILL was sent to may take to be seen gone. */
  readonly killMs: number;
}

/** Ends a tree and answers what was then seen (F15); every wait ends with the evidence (F25). */
export function stopTree(handle: WorkloadHandle, graceMs: number, site: StopSite): Promise<StopAnswer> {
  const { identity } = handle;
  if (identity.bootId !== site.from.bootId) {
    // Nothing outlives a boot.
    return Promise.resolve({ kind: 'gone', proof: 'tree-empty', forced: false });
  }
  if (identity.controlGroup === null) return stopAlone(handle, graceMs, site);
  if (site.unified === null) {
    return Promise.resolve({ kind: 'unknown', because: 'the control group hierarchy is not mounted any more' });
  }
  return stopGroup(join(site.unified.mount, identity.controlGroup), graceMs, site);
}

async function stopGroup(directory: string, graceMs: number, site: StopSite): Promise<StopAnswer> {
  const living = populated(directory);
  if (living.kind === 'unknown') return living;
  if (living.kind === 'absent') return { kind: 'gone', proof: 'tree-empty', forced: false };
  askMembers(directory, site.from);
  const asked = await whenEmpty(directory, graceMs, site.timers);
  if (asked.kind === 'absent') return { kind: 'gone', proof: 'tree-empty', forced: false };
  killGroup(directory);
  const killed = await whenEmpty(directory, site.killMs, site.timers);
  if (killed.kind === 'absent') return { kind: 'gone', proof: 'tree-empty', forced: true };
  return killed.kind === 'unknown'
    ? killed
    : { kind: 'unknown', because: `processes ${members(directory).join(', ')} outlive SIGKILL` };
}

/**
 * A pid that was recycled between the listing and its identity is not of the group any more, and is left alone (F12).
 */
function askMembers(directory: string, from: Standpoint): void {
  const identities = members(directory).map((pid) => identify(pid, null, from));
  const still = new Set(members(directory));
  for (const identity of identities) {
    if (identity.kind === 'seen' && still.has(identity.value.pid)) signal(identity.value, 'SIGTERM', from);
  }
}

async function stopAlone(handle: WorkloadHandle, graceMs: number, site: StopSite): Promise<StopAnswer> {
  const { identity } = handle;
  let state = vital(identity, site.from);
  let forced = false;
  if (state.kind === 'seen') {
    signal(identity, 'SIGTERM', site.from);
    state = await whenGone(identity, graceMs, site);
  }
  if (state.kind === 'seen') {
    forced = true;
    signal(identity, 'SIGKILL', site.from);
    state = await whenGone(identity, site.killMs, site);
  }
  if (state.kind === 'unknown') return state;
  if (state.kind === 'seen') return { kind: 'unknown', because: `process ${identity.pid} outlives SIGKILL` };
  const strays = await killStrays(handle, site);
  if (!site.singleProcess) return { kind: 'parent-gone' };
  if (strays.length > 0) return { kind: 'unknown', because: `processes ${strays.join(', ')} outlive SIGKILL` };
  return { kind: 'gone', proof: 'single-process', forced };
}

/**
 * Descendants that still carry the activation id are ended too, those of a program that the binding calls a single
 * process as well (F15); that is no proof that none is left. Answers the process ids of those that are seen to live on.
 */
async function killStrays(handle: WorkloadHandle, site: StopSite): Promise<readonly number[]> {
  const strays = (await carriersOf(handle.activation, site.from)).filter(
    (one) => vital(one, site.from).kind === 'seen',
  );
  for (const stray of strays) signal(stray, 'SIGKILL', site.from);
  const after = await Promise.all(strays.map((stray) => whenGone(stray, site.killMs, site)));
  return strays.filter((_, index) => after[index]?.kind === 'seen').map(({ pid }) => pid);
}

/** Between two looks at a process whose pipe has ended, and at one whose pipe may not tell. */
const SOON_MS = 2;
const SLOW_MS = 100;

/** Resolves when exactly this process is gone or `withinMs` has passed, with what was then seen. */
function whenGone(
  identity: RuntimeIdentity,
  withinMs: number,
  { from, timers, fifo }: StopSite,
): Promise<ReturnType<typeof vital>> {
  return new Promise((resolve) => {
    let everyMs: number = SLOW_MS;
    let withdrawLook = (): void => {};
    const withdrawEnd = timers.after(withinMs, () => finish());
    const closePipe = watchPipe(fifo, () => {
      everyMs = SOON_MS;
      look();
    });
    const finish = (): void => {
      withdrawLook();
      withdrawEnd();
      closePipe();
      resolve(vital(identity, from));
    };
    const look = (): void => {
      withdrawLook();
      if (vital(identity, from).kind === 'absent') finish();
      else withdrawLook = timers.after(everyMs, look);
    };
    look();
  });
}
