import type { RuntimeIdentity } from '@idunn/readiness';
import type { Standpoint } from './identity.ts';
import { processIds, readEnvironment, readStat } from './proc.ts';

interface Carrier {
  readonly pid: number;
  readonly startTime: string;
}
type Carriers = ReadonlyMap<string, readonly Carrier[]>;

let scanning: Promise<Carriers> | null = null;
let waiting: Promise<Carriers> | null = null;

/**
 * Processes that carry an activation's public id in their environment. They can be found so; their absence proves nothing,
 * because a program may overwrite its own environment.
 */
export async function carriersOf(activation: string, from: Standpoint): Promise<readonly RuntimeIdentity[]> {
  const carriers = (await scanProcesses()).get(activation) ?? [];
  return carriers.map((carrier) => ({ kind: 'linux-process', controlGroup: null, ...carrier, ...from }));
}

/** Callers at the same time share one scan, but never one that began before they asked. */
function scanProcesses(): Promise<Carriers> {
  if (scanning !== null) {
    waiting ??= scanAfter(scanning);
    return waiting;
  }
  scanning = scanOnce().finally(() => {
    scanning = null;
  });
  return scanning;
}

async function scanAfter(running: Promise<Carriers>): Promise<Carriers> {
  await Promise.allSettled([running]);
  waiting = null;
  return scanProcesses();
}

/** The start time is read before the environment: a pid that is recycled in between keeps the old identity (F12). */
async function scanOnce(): Promise<Carriers> {
  const found = new Map<string, Carrier[]>();
  for (const pid of processIds()) {
    const stat = readStat(pid);
    if (stat.kind !== 'seen') continue;
    const activation = await readEnvironment(pid, 'IDUNN_ACTIVATION');
    if (activation === null) continue;
    const carrier = { pid, startTime: stat.value.startTime };
    const others = found.get(activation);
    if (others === undefined) found.set(activation, [carrier]);
    else others.push(carrier);
  }
  return found;
}
