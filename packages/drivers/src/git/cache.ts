import { chmod, chown, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Account } from './reader.ts';

/** Configuration for a repository whose owner was checked: git itself would ask for the reading user alone. */
const TRUSTED = '[safe]\n\tdirectory = *\n';

/** Where object caches are, and the file that tells git to read repositories of other owners. */
export interface Cache {
  readonly directory: string;
  readonly trusting: string;
}

/**
 * The place of a reader's object caches, made now. It belongs to the daemon, and so does the way there, which the
 * reader may only pass through; the caches in it are the reader's own.
 */
export async function cacheFor(root: string, account: Account | null): Promise<Cache> {
  const directory = account === null ? root : join(root, `reader-${account.uid}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (account !== null) for (const path of [dirname(root), root, directory]) await letThrough(path);
  const trusting = join(directory, 'trusted-origins');
  await writeFile(trusting, TRUSTED);
  // Whatever the umask was: who reads has to read it.
  await chmod(trusting, 0o644);
  return { directory, trusting };
}

/** An empty directory for one object cache, which belongs to whoever reads. */
export async function makeCache(path: string, account: Account | null): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (account === null) return;
  await letThrough(dirname(path));
  await chown(path, account.uid, account.gid);
}

async function letThrough(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o011) !== 0o011) await chmod(path, (mode & 0o777) | 0o011);
}
