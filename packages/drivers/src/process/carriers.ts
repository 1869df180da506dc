import type { RuntimeIdentity } from '@idunn/readiness';
import type { Standpoint } from './identity.ts';
import { processIds, readEnvironment, readStat, ticksSinceBoot } from './proc.ts';
import { sharedRead } from './shared-read.ts';

interface Carrier {
  readonly pid: number;
  readonly startTime: string;
}
type Carriers = ReadonlyMap<string, readonly Carrier[]>;

/** Environments that are read at once. */
const READERS = 32;
/**
 * A process that is older has become what it was started as: who carries an activation was given it before its first
 * instruction, and leaves it to its children.
 */
const SETTLED_TICKS = 1_000n;

const MACHINE = { processIds, readStat, readEnvironment, ticksSinceBoot };

/**
 * Finds out who carries which activation. What a process that has settled carries is remembered: a machine that runs
 * 1,000 programs is not read whole at each start. A pid that is recycled is another process (F12).
 */
export function carrierScan(machine: typeof MACHINE = MACHINE): () => Promise<Carriers> {
  const settled = new Map<number, { readonly startTime: string; readonly activation: string | null }>();

  async function carriedBy(pid: number, startTime: string, nowTicks: bigint): Promise<string | null> {
    const known = settled.get(pid);
    if (known?.startTime === startTime) return known.activation;
    const read = await machine.readEnvironment(pid, 'IDUNN_ACTIVATION');
    if (read === 'unreadable') return null;
    if (nowTicks - BigInt(startTime) > SETTLED_TICKS) settled.set(pid, { startTime, activation: read.value });
    return read.value;
  }

  return sharedRead(async () => {
    const found = new Map<string, Carrier[]>();
    const nowTicks = machine.ticksSinceBoot();
    const all = new Set(machine.processIds());
    for (const pid of settled.keys()) if (!all.has(pid)) settled.delete(pid);
    const pids = all.values();
    const read = async (): Promise<void> => {
      for (const pid of pids) {
        // Before the environment: a pid that is recycled in between keeps the old identity (F12).
        const stat = machine.readStat(pid);
        if (stat.kind !== 'seen') continue;
        const { startTime } = stat.value;
        const activation = await carriedBy(pid, startTime, nowTicks);
        if (activation === null) continue;
        const carrier = { pid, startTime };
        const others = found.get(activation);
        if (others === undefined) found.set(activation, [carrier]);
        else others.push(carrier);
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
    return found;
  });
}

const scan = carrierScan();

/**
 * Processes that carry an activation's public id in their environment. They can be found so; their absence proves
 * nothing, because a program may overwrite its own environment.
 */
export async function carriersOf(activation: string, from: Standpoint): Promise<readonly RuntimeIdentity[]> {
  const carriers = (await scan()).get(activation) ?? [];
  return carriers.map((carrier) => ({ kind: 'linux-process', controlGroup: null, ...carrier, ...from }));
}
