import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fleetProcesses } from '../../scripts/lib/end-fleet.mjs';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';
import { round } from './proof.ts';

/** Clock ticks of /proc in a second: a constant of the kernel's interface on Linux. */
const TICKS_PER_SECOND = 100;

/** The processes of Idunn's own programs; throws when one of them does not run. */
export function ownPrograms(fleet: Fleet): Readonly<Record<'daemon' | 'router' | 'observer' | 'attendant', number>> {
  const pids: Record<string, number> = {};
  for (const { what, pid, words } of fleetProcesses({ fleet: fleet.directory, runtime: fleet.runtime })) {
    if (what !== null && what !== 'workload') pids[what] = pid;
    else if (words.some((word) => word.includes('/observer/'))) pids['observer'] = pid;
  }
  const { daemon, router, observer, attendant } = pids;
  if (daemon === undefined || router === undefined || observer === undefined || attendant === undefined) {
    throw new Error(`one of Idunn’s programs does not run: ${JSON.stringify(pids)}`);
  }
  return { daemon, router, observer, attendant };
}

/** Share of one core that each of Idunn's programs used in the span, in percent. */
export async function cpuPercent(fleet: Fleet, spanMs: number): Promise<Readonly<Record<string, number>>> {
  const programs = Object.entries(ownPrograms(fleet));
  const before = programs.map(([, pid]) => ticksOf(pid));
  const begun = performance.now();
  await pause(spanMs);
  const seconds = (performance.now() - begun) / 1_000;
  return Object.fromEntries(
    programs.map(([name, pid], index) => [
      name,
      round(((ticksOf(pid) - (before[index] ?? 0)) / TICKS_PER_SECOND / seconds) * 100),
    ]),
  );
}

/** utime and stime of a process. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
