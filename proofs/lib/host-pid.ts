import { readdirSync, readFileSync } from 'node:fs';

/** The process that has the line in its environment, by its number here and not in its container. */
export function hostPidOf(line: string): number {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(line)) return Number(name);
    } catch {
      // It has ended.
    }
  }
  throw new Error(`no process has ${line}`);
}
