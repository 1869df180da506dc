import { join } from 'node:path';
import type { Timers } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import { members } from './control-group.ts';
import { type Standpoint, signal, vital } from './identity.ts';
import { readStat } from './proc.ts';
import type { Machine } from './start.ts';

/** What came of processes that should not be. */
export interface OthersEnded {
  /** Seen gone after our signal. */
  readonly ended: readonly RuntimeIdentity[];
  /** Still there, or not to be judged. */
  readonly left: readonly RuntimeIdentity[];
}

/** Between two looks at processes that were killed. */
const LOOK_MS = 2;

/** Kills exactly these processes (F12) and answers what was then seen of each; looked at for at least `killMs`. */
export async function endAll(
  identities: readonly RuntimeIdentity[],
  { from, timers, killMs }: { readonly from: Standpoint; readonly timers: Timers; readonly killMs: number },
): Promise<OthersEnded> {
  const living = identities.filter((identity) => vital(identity, from).kind !== 'absent');
  if (living.length === 0) return { ended: [], left: [] };
  for (const identity of living) signal(identity, 'SIGKILL', from);
  const remaining = (): readonly RuntimeIdentity[] =>
    living.filter((identity) => vital(identity, from).kind !== 'absent');
  for (let waitedMs = 0; waitedMs < killMs && remaining().length > 0; waitedMs += LOOK_MS) {
    await new Promise<void>((resolve) => void timers.after(LOOK_MS, resolve));
  }
  const left = remaining();
  return { ended: living.filter((identity) => !left.includes(identity)), left };
}

/** Whether a process belongs to the tree of another: by its control group, or where it has none by its parents. */
export function insideTree(identity: RuntimeIdentity, room: Machine['room']): (pid: number) => boolean {
  if (identity.controlGroup === null || room === null) return (pid) => descendsFrom(pid, identity.pid);
  const inside = new Set(members(join(room.hierarchy.mount, identity.controlGroup)));
  return (pid) => inside.has(pid);
}

function descendsFrom(pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1; ) {
    if (at === ancestor) return true;
    const stat = readStat(at);
    if (stat.kind !== 'seen') return false;
    at = stat.value.parent;
  }
  return false;
}
