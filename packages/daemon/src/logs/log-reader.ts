import { watch } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogReader } from '../api/parts.ts';

/** What the process driver offers about an activation's log. */
export interface LogSource {
  logTail(target: string, activation: string, lines: number): Promise<readonly string[]>;
  logPath(target: string, activation: string): string;
  redact(activation: string, text: string): Promise<string>;
}

const LOG = '.log';
/** How much of the end is read for the first lines of a followed log. */
const TAIL_BYTES = 65_536;
/** How much of a log that grew is read at once. */
const READ_BYTES = 1_048_576;
/** Longest line that waits for its end; of a longer one nothing is shown, for a secret may be cut in it. */
const LINE_LIMIT_CHARACTERS = 65_536;

/** Reads the logs under `<logs>/<target>`, one file for each activation. */
export function logReader(logs: string, source: LogSource): LogReader {
  return {
    tail: (target, activation, lines) => source.logTail(target, activation, lines),
    has: async (target, activation) => (await sizeOf(source.logPath(target, activation))) !== null,
    newest: (target) => newestActivation(join(logs, target)),
    follow: (target, activation, lines, signal) => follow(source, target, activation, lines, signal),
  };
}

/** The activation whose log was begun last. */
async function newestActivation(directory: string): Promise<string | null> {
  const files = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(LOG));
  const begun = await Promise.all(
    files.map(async (name) => ({ name, atMs: (await stat(join(directory, name))).birthtimeMs })),
  );
  const [newest] = begun.toSorted((a, b) => b.atMs - a.atMs);
  return newest === undefined ? null : newest.name.slice(0, -LOG.length);
}

/** The last lines, then every whole line as it is written; a rotation is followed to the new file. */
async function* follow(
  source: LogSource,
  target: string,
  activation: string,
  lines: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const path = source.logPath(target, activation);
  const changed = changes(path, signal);
  let offset = Math.max(0, ((await sizeOf(path)) ?? 0) - TAIL_BYTES);
  /** Where the beginning is cut, half a secret may stand; it goes with the half line (F30). */
  let cut = offset > 0;
  let rest = '';
  let first = true;
  for (;;) {
    const size = (await sizeOf(path)) ?? 0;
    if (size < offset) offset = 0; // Rotated: the file was copied aside and begun anew.
    const to = Math.min(size, offset + READ_BYTES);
    const parts = (rest + (await read(path, offset, to))).split('\n');
    offset = to;
    rest = parts.pop() ?? '';
    if (cut && parts.length > 0) {
      parts.shift();
      cut = false;
    }
    if (rest.length > LINE_LIMIT_CHARACTERS) {
      rest = '';
      cut = true;
    }
    const whole = first ? parts.slice(-lines || parts.length) : parts;
    first = false;
    if (whole.length > 0) yield* (await source.redact(activation, utf8(whole.join('\n')))).split('\n');
    if (signal.aborted || (offset >= size && !(await changed()))) return;
  }
}

/** Text is kept a byte a character until its line is whole: a read may end inside a character. */
const utf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

async function read(path: string, from: number, to: number): Promise<string> {
  if (to <= from) return '';
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}

/**
 * Answers true when the file changed since the last answer, false when `signal` aborted. Changes in between count
 * once.
 */
function changes(path: string, signal: AbortSignal): () => Promise<boolean> {
  let dirty = false;
  let wake: (() => void) | null = null;
  const note = (): void => {
    dirty = true;
    wake?.();
  };
  const watcher = watch(path, { signal }, note);
  watcher.on('error', note);
  signal.addEventListener('abort', () => wake?.(), { once: true });
  return async () => {
    if (!dirty && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    wake = null;
    dirty = false;
    return !signal.aborted;
  };
}
