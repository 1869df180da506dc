import { createHash, type Hash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, open, readdir, readFile, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Digest } from '@idunn/kernel';
import { atOnce, FILES_AT_ONCE } from './at-once.ts';

const NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW;
/** A file up to this size is read in one piece, a larger one in pieces. */
const WHOLE_LIMIT_BYTES = 524_288;
const PIECE_BYTES = 262_144;

/** The bytes of a small file, `null` for one that is too large to be held whole; a link at the path is not followed. */
export async function readWhole(path: string, knownBytes?: number): Promise<Buffer | null> {
  const size = knownBytes ?? (await lstat(path)).size;
  return size > WHOLE_LIMIT_BYTES ? null : readFile(path, { flag: NO_LINK });
}

/** Feeds a file's bytes to a hash; a link at the path itself is not followed. */
export async function hashFile(path: string, hash: Hash, knownBytes?: number): Promise<void> {
  const bytes = await readWhole(path, knownBytes);
  if (bytes !== null) {
    hash.update(bytes);
    return;
  }
  const file = await open(path, NO_LINK);
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES);
      if (bytesRead === 0) return;
      hash.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
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
  const handle = await open(path, NO_LINK);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A path that is longer may lead to names that no path reaches; the limit of the system is 4,096 bytes. */
const LONG_PATH_BYTES = 2_048;

/**
 * Deletes a tree, read-only directories included; links are deleted, never followed. Whatever names a program gave:
 * bytes that are no text, and directories so deep that no path leads there, which are brought up first.
 */
export async function removeTree(path: string): Promise<void> {
  const top = Buffer.from(path);
  const stat = await lstat(top).catch(absentAsNull);
  if (stat === null) return;
  if (stat.isDirectory()) await removeDirectory(top, top);
  else await remove(top);
}

async function removeDirectory(found: Buffer, top: Buffer): Promise<void> {
  let path = found;
  // Moving a directory takes the right to write in it, for its own name of its parent.
  await chmod(path, 0o700).catch(absentAsNull);
  if (path.length > top.length + LONG_PATH_BYTES) {
    path = below(top, Buffer.from(`deep-${randomUUID()}`));
    await rename(found, path);
  }
  const entries = (await readdir(path, { withFileTypes: true, encoding: 'buffer' }).catch(absentAsNull)) ?? [];
  const others = entries.filter((entry) => !entry.isDirectory());
  await atOnce(FILES_AT_ONCE, others, ({ name }) => remove(below(path, name)));
  for (const entry of entries) if (entry.isDirectory()) await removeDirectory(below(path, entry.name), top);
  await rmdir(path).catch(absentAsNull);
}

const below = (path: Buffer, name: Buffer): Buffer => Buffer.concat([path, SLASH, name]);
const SLASH = Buffer.from('/');

/** Somebody else may have deleted it a moment ago. */
const remove = async (path: Buffer): Promise<void> => void (await unlink(path).catch(absentAsNull));

export function absentAsNull(error: unknown): null {
  if (isErrno(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
  throw error;
}

export const isErrno = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error;
