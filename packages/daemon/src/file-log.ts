import { join } from 'node:path';
import { destination, type Logger, pino } from 'pino';

/** What is kept of the lines that could not be written; later ones are let go beyond it. */
const UNWRITTEN_LIMIT_BYTES = 262_144;

/**
 * The daemon's own log, a file in the log directory. A disk that is full costs lines and nothing else: what could not
 * be written is tried again with the next one, and nobody's service depends on it (I9).
 */
export function fileLog(logs: string): Logger {
  const file = destination({
    dest: join(logs, 'daemon.log'),
    append: true,
    mode: 0o600,
    sync: true,
    maxLength: UNWRITTEN_LIMIT_BYTES,
  });
  file.on('error', () => undefined);
  return pino({ base: { pid: process.pid } }, file);
}
