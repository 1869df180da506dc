import { readdirSync, readFileSync } from 'node:fs';
import { fleetProcesses } from '../../../scripts/lib/end-fleet.mjs';
import type { Fleet } from '../../../tests/e2e/lib/fleet.ts';
import type { Role } from './schedule.ts';

export interface Found {
  readonly pid: number;
  readonly role: Role | 'launcher' | 'other';
}

const LAUNCHER = /\/gate\/launcher\.[jt]s$/;

/** What the fleet runs at this moment, each with what it is. */
export function found(fleet: Fleet): readonly Found[] {
  return fleetProcesses({ fleet: fleet.directory, runtime: fleet.runtime }).map(({ pid, what, words }) => ({
    pid,
    role: what === 'daemon' || what === 'router' || what === 'attendant' ? what : roleOf(words),
  }));
}

function roleOf(words: readonly string[]): Found['role'] {
  const runs = (ending: string): boolean => words.some((word) => word.endsWith(ending));
  if (words.some((word) => LAUNCHER.test(word))) return 'launcher';
  if (runs('/src/main.js')) return 'ghostlight';
  if (runs('/notes.mjs')) return 'notes';
  if (runs('/clock.mjs')) return 'clock';
  return words.some((word) => word.includes('/observer')) ? 'observer' : 'other';
}

/** False when it has gone meanwhile. */
export function signal(pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Whatever still runs with a word, or a directory, of the fleet: steps, readers and rehearsals too. */
export function leftovers(fleet: Fleet): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        const told = words + readFileSync(`/proc/${name}/environ`, 'utf8');
        return told.includes(fleet.work) ? [`${name} ${words.replaceAll('\0', ' ').slice(0, 200)}`] : [];
      } catch {
        return []; // It has ended.
      }
    });
}
