import { readFileSync } from 'node:fs';

/**
 * Whether exactly this process lives (F12). `unknown` when /proc cannot say: nothing is signed then, and nobody is
 * forgotten.
 */
export function lives(pid: number, startTime: string): 'yes' | 'no' | 'unknown' {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    return code === 'ENOENT' || code === 'ESRCH' ? 'no' : 'unknown';
  }
  const fields = statFields(line);
  if (fields[19] !== startTime) return 'no';
  return fields[0] === 'Z' || fields[0] === 'X' ? 'unknown' : 'yes';
}

/** The fields of /proc/PID/stat from its third on; the command's name may hold anything, also a parenthesis. */
export const statFields = (line: string): readonly string[] => line.slice(line.lastIndexOf(')') + 2).split(' ');
