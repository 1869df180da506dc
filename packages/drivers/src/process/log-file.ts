import {
  closeSync,
  constants,
  copyFileSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from './files.ts';
import { isErrno } from './proc.ts';

/** How much of a log is looked at for its last lines, in bytes. */
const TAIL_BYTES = 65_536;
/** Longest line that is shown, in characters. */
const LINE_CHARACTERS = 2_000;
const CHUNK_BYTES = 262_144;

export interface LogLimits {
  /** Size at which the log is rotated. */
  readonly bytes: number;
  /** Files kept, the current one included. */
  readonly files: number;
}

/** The log and its rotated forerunners, newest first. */
export const logFiles = (log: string, files: number): readonly string[] => [
  log,
  ...Array.from({ length: Math.max(0, files - 1) }, (_, index) => `${log}.${index + 1}`),
];

/** A log that grew to so many times its size between two looks is not copied whole: neither time nor disk is there. */
const WHOLE_UP_TO = 4;

/**
 * Rotates a log that is over its size while the program goes on appending through its own descriptor: copied aside,
 * then truncated in the same breath as the last bytes were copied. Of a flood its last whole lines are kept.
 */
export function rotateIfLarge(log: string, limits: LogLimits): void {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= limits.bytes) return;
  const kept = logFiles(log, limits.files);
  for (let index = kept.length - 1; index > 1; index--) {
    renameIfThere(kept[index - 1] as string, kept[index] as string);
  }
  const descriptor = openSync(log, 'r+');
  try {
    const [, first] = kept;
    const most = WHOLE_UP_TO * limits.bytes;
    if (first !== undefined && size > most) {
      const from = wholeLineAfter(descriptor, size - limits.bytes, size);
      if (from !== null) copyFrom(descriptor, first, { flags: 'w', from, most });
    } else if (first !== undefined) {
      copyFileSync(log, first, constants.COPYFILE_FICLONE);
      copyFrom(descriptor, first, { flags: 'a', from: statSync(first).size, most });
    }
    ftruncateSync(descriptor, 0);
  } finally {
    closeSync(descriptor);
  }
}

/** Where the first line begins after a place; `null` when none does: half a line may be half a secret (F30). */
function wholeLineAfter(log: number, place: number, end: number): number | null {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = place; at < end; at += CHUNK_BYTES) {
    const newline = chunk.subarray(0, readSync(log, chunk, 0, chunk.length, at)).indexOf('\n');
    if (newline !== -1) return at + newline + 1;
  }
  return null;
}

/** Copies the log from a position on, what is written meanwhile included; a flood leads no further than `most`. */
function copyFrom(
  log: number,
  copy: string,
  { flags, from, most }: { readonly flags: 'a' | 'w'; readonly from: number; readonly most: number },
): void {
  const to = openSync(copy, flags, 0o600);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let position = from; position - from < most; ) {
      const bytes = readSync(log, chunk, 0, chunk.length, position);
      if (bytes === 0) return;
      writeSync(to, chunk, 0, bytes);
      position += bytes;
    }
  } finally {
    closeSync(to);
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

/**
 * Takes secret values out of text. Values are texts of one byte a character (latin1), so that nothing is re-encoded.
 */
export interface Redactor {
  readonly longest: number;
  redact(text: string): string;
}

/** Reads the values to hide from an activation's `secrets` directory: each whole, and each line of one with several. */
export async function redactorFor(secrets: string): Promise<Redactor> {
  const values: { name: string; value: string }[] = [];
  for (const name of await namesIn(secrets)) {
    const whole = (await readFile(join(secrets, name))).toString('latin1').trim();
    for (const value of new Set([whole, ...whole.split('\n').map((line) => line.trim())])) {
      if (value !== '') values.push({ name, value });
    }
  }
  // Longest first, so that a secret which is part of another does not leave the rest of it standing.
  values.sort((a, b) => b.value.length - a.value.length);
  return {
    longest: values[0]?.value.length ?? 0,
    redact: (text) => values.reduce((rest, { name, value }) => rest.replaceAll(value, `[secret ${name}]`), text),
  };
}

/** The last lines of a log with its secrets taken out; over a rotation when the current file is short (F7, F30). */
export async function tailOf(log: string, lines: number, redactor: Redactor): Promise<readonly string[]> {
  const current = await endOf(log);
  const older = current.bytes.length < TAIL_BYTES && !current.cut ? await endOf(`${log}.1`) : { bytes: '', cut: false };
  const { bytes, cut } = { bytes: older.bytes + current.bytes, cut: older.cut || current.cut };
  const shown = redactor.redact(cut ? fromWholeLine(bytes, redactor.longest) : bytes);
  const all = Buffer.from(shown, 'latin1').toString('utf8').replace(/\n$/, '').split('\n');
  return all
    .filter((line, index) => line !== '' || index > 0)
    .slice(-lines)
    .map((line) => line.slice(0, LINE_CHARACTERS));
}

/** Where the beginning is cut, half a secret may stand; it goes with the half line. */
function fromWholeLine(bytes: string, longest: number): string {
  const newline = bytes.indexOf('\n');
  return newline === -1 ? bytes.slice(longest) : bytes.slice(newline + 1);
}

async function endOf(file: string): Promise<{ bytes: string; cut: boolean }> {
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      const start = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
      return { bytes: buffer.toString('latin1', 0, bytesRead), cut: start > 0 };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return { bytes: '', cut: false };
    throw error;
  }
}
