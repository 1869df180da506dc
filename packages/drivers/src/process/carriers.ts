import type { RuntimeIdentity } from '@idunn/readiness';
import type { Standpoint } from './identity.ts';
import { processIds, readEnvironment, readStat } from './proc.ts';
import { sharedRead } from './shared-read.ts';

interface Carrier {
  readonly pid: number;
  readonly startTime: string;
}
type Carriers = ReadonlyMap<string, readonly Carrier[]>;

/**
 * Processes that carry an activation's public id in their environment. They can be found so; their absence proves
 * nothing, because a program may overwrite its own environment.
 */
export async function carriersOf(activation: string, from: Standpoint): Promise<readonly RuntimeIdentity[]> {
  const carriers = (await scan()).get(activation) ?? [];
  return carriers.map((carrier) => ({ kind: 'linux-process', controlGroup: null, ...carrier, ...from }));
}

/** Environments that are read at once. */
const READERS = 32;

/** The start time is read before the environment: a pid that is recycled in between keeps the old identity (F12). */
const scan = sharedRead(async (): Promise<Carriers> => {
  const found = new Map<string, Carrier[]>();
  const pids = processIds().values();
  const read = async (): Promise<void> => {
    for (const pid of pids) {
      const stat = readStat(pid);
      if (stat.kind !== 'seen') continue;
      const activation = await readEnvironment(pid, 'IDUNN_ACTIVATION');
      if (activation === null) continue;
      const carrier = { pid, startTime: stat.value.startTime };
      const others = found.get(activation);
      if (others === undefined) found.set(activation, [carrier]);
      else others.push(carrier);
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return found;
});
