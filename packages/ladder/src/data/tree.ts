import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, rename, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists, removeTree } from '../bundle/files.ts';
import { walk } from '../bundle/walk.ts';

// Copies and exchanges whole trees. A file system that can share blocks shares them.

export interface Copied {
  /** Files that were copied as they were before and after. */
  readonly files: number;
  /** Files that went or changed while they were copied. */
  readonly changed: readonly string[];
}

/** Waits until a file, or a directory's names, would outlast a loss of power. */
async function onDisk(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Copies everything beneath `from` into the new directory `to`. Throws `RefusedError` for a link or device, and a
 * fault of the file system for anything else that cannot be copied.
 */
export async function copyTree(from: string, to: string, { durable }: { durable: boolean }): Promise<Copied> {
  await mkdir(to, { mode: 0o700 });
  const changed: string[] = [];
  const modes: (readonly [path: string, mode: number])[] = [];
  let files = 0;
  for await (const { path, kind, mode, size, mtimeMs } of walk(from)) {
    if (kind === 'directory') {
      await mkdir(join(to, path), { mode: mode | 0o700 });
      modes.push([path, mode]);
      continue;
    }
    const stable = await copyStable(join(from, path), join(to, path), size, mtimeMs);
    if (stable && durable) await onDisk(join(to, path));
    if (stable) files += 1;
    else changed.push(path);
  }
  for (const [path, mode] of modes.toReversed()) {
    if (durable) await onDisk(join(to, path));
    await chmod(join(to, path), mode);
  }
  if (durable) await onDisk(to);
  return { files, changed };
}

/** Whether the file was the same before and after it was copied. */
async function copyStable(from: string, to: string, size: number, mtimeMs: number): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await utimes(to, mtimeMs / 1_000, mtimeMs / 1_000);
    const after = await lstat(from);
    return after.isFile() && after.size === size && after.mtimeMs === mtimeMs;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Puts the tree at `incoming` in the place of the one at `place`, which is kept beside it as `previous`. A crash in
 * between leaves one of the two; `settle` puts the old one back.
 */
export async function exchange(incoming: string, place: string, previous: string): Promise<void> {
  await removeTree(previous);
  const replaced = await exists(place);
  if (replaced) await rename(place, previous);
  try {
    await rename(incoming, place);
  } catch (error) {
    if (replaced) await rename(previous, place);
    throw error;
  }
  await onDisk(dirname(place));
}

/** Ends an exchange that a crash interrupted: with nothing in the place, what was there before is put back. */
export async function settle(place: string, previous: string): Promise<void> {
  if (!(await exists(place)) && (await exists(previous))) await rename(previous, place);
}
