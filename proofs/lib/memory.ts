import { readdirSync, readFileSync } from 'node:fs';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';
import { round } from './proof.ts';

/** Resident memory of Idunn's own three programs of a fleet, in MiB. */
export interface Footprint {
  readonly [program: string]: number;
}

/** Found by the words and the environment that only this fleet's programs carry. Throws when one is not there. */
export function footprint(fleet: Fleet): Footprint {
  const found: Record<string, number> = {};
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const program = programOf(pid, fleet);
    if (program !== null) found[program] = rssMb(pid);
  }
  for (const program of ['daemon', 'router', 'observer']) {
    if (found[program] === undefined) throw new Error(`the ${program} of ${fleet.id} does not run`);
  }
  return found;
}

function programOf(pid: string, fleet: Fleet): string | null {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const of = (flag: string, value: string): boolean => (words[words.indexOf(flag) + 1] ?? '').startsWith(value);
    if (words.some((word) => word.includes('/daemon/dist/main.js')) && of('--fleet', fleet.directory)) return 'daemon';
    if (words.includes('--control') && of('--control', `${fleet.runtime}/`)) return 'router';
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    if (!environment.includes(`IDUNN_ACTIVATION_DIRECTORY=${fleet.runtime}/`)) return null;
    return words.some((word) => word.includes('/observer/')) ? 'observer' : null;
  } catch {
    return null; // It has ended.
  }
}

function rssMb(pid: string): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return round(Number(line?.[1] ?? 0) / 1024);
}
