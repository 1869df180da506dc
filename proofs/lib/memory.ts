import { readFileSync } from 'node:fs';
import { fleetProcesses } from '../../scripts/lib/end-fleet.mjs';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';
import { round } from './proof.ts';

/** Resident memory of Idunn's own three programs of a fleet, in MiB. */
export interface Footprint {
  readonly [program: string]: number;
}

/** Throws when one of them does not run. */
export function footprint(fleet: Fleet): Footprint {
  const found: Record<string, number> = {};
  for (const { what, pid, words } of fleetProcesses({ fleet: fleet.directory, runtime: fleet.runtime })) {
    if (what !== 'workload') found[what] = rssMb(pid);
    else if (words.some((word) => word.includes('/observer/'))) found['observer'] = rssMb(pid);
  }
  for (const program of ['daemon', 'router', 'observer']) {
    if (found[program] === undefined) throw new Error(`the ${program} of ${fleet.id} does not run`);
  }
  return found;
}

function rssMb(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return round(Number(line?.[1] ?? 0) / 1024);
}
