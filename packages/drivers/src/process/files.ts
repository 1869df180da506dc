import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { readPlainFile, readPlainFileSync } from '@idunn/kernel';
import { isErrno } from './proc.ts';

/** How the name of a file ends that is still written; one that stays belonged to a daemon that died. */
export const DRAFT = '.draft';

/** Makes a private directory and those above it that are missing. */
export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

/** Puts a private file in place whole: written beside, then renamed. What was there before is replaced. */
export async function placePrivate(file: string, content: string | Uint8Array, owner?: FileOwner): Promise<void> {
  const draft = `${file}${DRAFT}`;
  await placeDraft(draft, content, owner);
  await rename(draft, file);
}

/** Whom a file is for, where it is not for this user. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** What lies there is a leftover, or a link that somebody put there for us to follow. */
async function placeDraft(draft: string, content: string | Uint8Array, owner?: FileOwner): Promise<void> {
  await unlinkIfThere(draft);
  await writeDraft(draft, content, owner);
}

async function writeDraft(draft: string, content: string | Uint8Array, owner?: FileOwner): Promise<void> {
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.chmod(0o600);
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

/**
 * Creates a private file that must not be there yet; `false` when it is. It appears whole or not at all, whenever its
 * writer dies (I6).
 */
export async function createPrivate(file: string, content: string): Promise<boolean> {
  // A name of its own: two who create at once must not write into each other's draft.
  const draft = `${file}.${randomUUID()}${DRAFT}`;
  await writeDraft(draft, content);
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlinkIfThere(draft);
  }
}

/** The names in a directory; none when it is not there. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Largest file of an activation, in bytes. */
const FILE_LIMIT_BYTES = 16_777_216;

/** The text of a file of an activation, whose program may have put anything there; `null` when it is not there. */
export async function readIfThere(file: string): Promise<string | null> {
  return (await readPlainFile(file, { limitBytes: FILE_LIMIT_BYTES }))?.toString('utf8') ?? null;
}

/**
 * The same at once, for the few small files that the authority relies on: they lie in a directory of its own, and a
 * thousand of them are read when it begins.
 */
export const readOwnIfThere = (file: string): string | null =>
  readPlainFileSync(file, { limitBytes: FILE_LIMIT_BYTES })?.toString('utf8') ?? null;

export async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

/** Removes an empty directory; one that is gone, or holds what is not ours, is left. */
export async function removeEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTEMPTY')) throw error;
  }
}

const run = promisify(execFile);

/** Makes a private fifo; one that is there already is kept. */
export async function makeFifo(path: string): Promise<void> {
  try {
    await run('mkfifo', ['-m', '600', path], { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } });
  } catch (error) {
    if (!(isErrno(error, '1') && (await isFifo(path)))) throw error;
  }
}

const isFifo = async (path: string): Promise<boolean> => (await lstat(path)).isFIFO();

/** Never through a link. */
export const isDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
