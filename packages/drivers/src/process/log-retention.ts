import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlinkIfThere } from './files.ts';
import { isErrno } from './proc.ts';

/** Ended activations of one target whose logs are kept: what a person asks about after a bad week (F7). */
export const KEPT_LOGS = 50;

/** A log or a rotated forerunner of one. */
const LOG_NAME = /^(?<activation>.+)\.log(?:\.\d+)?$/;

/**
 * Deletes the logs in a target's directory that were written to longest ago, beyond the limit; those of activations
 * that are still there stay and are not counted. A disk that nobody looks at is not filled by deployments (F1).
 */
export async function forgetOldLogs(directory: string, isThere: (activation: string) => boolean): Promise<void> {
  const ended = new Map<string, { readonly files: string[]; atMs: number }>();
  for (const name of await readdir(directory)) {
    const activation = LOG_NAME.exec(name)?.groups?.['activation'];
    if (activation === undefined || isThere(activation)) continue;
    const file = join(directory, name);
    const known = ended.get(activation) ?? { files: [], atMs: 0 };
    known.files.push(file);
    known.atMs = Math.max(known.atMs, await writtenAt(file));
    ended.set(activation, known);
  }
  const newestFirst = [...ended.values()].toSorted((a, b) => b.atMs - a.atMs);
  for (const { files } of newestFirst.slice(KEPT_LOGS)) for (const file of files) await unlinkIfThere(file);
}

async function writtenAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0;
    throw error;
  }
}
