import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Digest } from '@idunn/kernel';

/** Feeds a file's bytes to a hash; a link at the path itself is not followed. */
export async function hashFile(path: string, hash: Hash): Promise<void> {
  await pipeline(createReadStream(path, { flags: 'r', highWaterMark: 1_048_576 }), hash);
}

export async function digestFile(path: string): Promise<Digest> {
  const hash = createHash('sha256');
  await hashFile(path, hash);
  return `sha256:${hash.digest('hex')}`;
}

/** Replaces a file atomically and durably: a reader sees the old bytes or the new ones, after a crash too. */
export async function writeDurably(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncPath(dirname(path));
}

/** Makes a file's bytes, or a directory's entries, durable. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Deletes a tree, read-only directories included; links are deleted, never followed. */
export async function removeTree(path: string): Promise<void> {
  await openUp(path);
  await rm(path, { recursive: true, force: true });
}

async function openUp(path: string): Promise<void> {
  const stat = await lstat(path).catch(absentAsNull);
  if (stat === null || !stat.isDirectory()) return;
  if ((stat.mode & 0o700) !== 0o700) await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(path, entry.name));
  }
}

export function absentAsNull(error: unknown): null {
  if (isErrno(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
  throw error;
}

export const isErrno = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error;
