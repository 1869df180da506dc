import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import type { Clock } from '@idunn/kernel';
import { LIMITS } from './limits.ts';

export interface Log {
  /** One line: an event in kebab-case and its facts. Never a header or a body of a request (F30). */
  write(event: string, facts?: Readonly<Record<string, string | number | boolean | null>>): void;
}

/** JSON lines in one file of at most `maxBytes`, with one file before it (`.1`); a flood is cut and counted. */
export function fileLog(path: string, maxBytes: number, clock: Clock): Log {
  let file = openSync(path, 'a', 0o600);
  let size = statSync(path).size;
  let second = 0;
  let lines = 0;
  let suppressed = 0;

  const put = (record: object): void => {
    const line = `${JSON.stringify(record)}\n`;
    if (size + line.length > maxBytes) {
      renameSync(path, `${path}.1`);
      const next = openSync(path, 'a', 0o600);
      closeSync(file); // Only now: the number of a closed file may become a socket's.
      file = next;
      size = 0;
    }
    size += writeSync(file, line);
  };

  return {
    write(event, facts = {}) {
      const now = clock.wallMs();
      if (Math.floor(now / 1_000) !== second) {
        second = Math.floor(now / 1_000);
        lines = 0;
      }
      if (++lines > LIMITS.logLinesPerSecond) {
        suppressed++;
        return;
      }
      try {
        put({ at: new Date(now).toISOString(), event, ...facts, ...(suppressed === 0 ? {} : { suppressed }) });
        suppressed = 0;
      } catch {
        // A log that cannot be written never stops traffic.
      }
    },
  };
}
