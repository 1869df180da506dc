import { chmod, chown, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { Git, type GitProgram } from './process.ts';
import type { Account } from './reader.ts';
import { firstClosed, isRootsOwn } from './way.ts';

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
  // What lies around the daemon's own directories is nobody's secret.
  await mkdir(dirname(dirname(root)), { recursive: true, mode: 0o755 });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (account !== null) for (const path of [dirname(root), root, directory]) await letThrough(path);
  const trusting = join(directory, 'trusted-origins');
  await writeFile(trusting, TRUSTED);
  // Whatever the umask was: who reads has to read it.
  await chmod(trusting, 0o644);
  return { directory, trusting };
}

/** A git whose reader gets to the object caches, whose way is opened where only root has closed it. */
export async function gitThatReaches(
  directory: string,
  program: Omit<GitProgram, 'opening'>,
  signal: AbortSignal,
): Promise<Outcome<Git>> {
  const plain = new Git({ ...program, opening: null });
  const { account } = plain.reader;
  if (account === null) return ok(plain);
  const closed = await firstClosed(plain, directory, account, signal);
  const opens = closed !== null && plain.opens && (await isRootsOwn(directory));
  const git = opens ? new Git({ ...program, opening: { closed, shown: directory, writable: true } }) : plain;
  const words = ['config', '--file', program.trusting, '--get', 'safe.directory'];
  const { exit, stderr } = await git.run({ directory: null, words, signal }, 1_024);
  // A git that cannot be started, or is withdrawn, says so where it is wanted.
  if (exit === 0 || exit === null) return ok(git);
  const at = closed ?? directory;
  const reason = `${account.name} cannot enter ${at} on the way to the object caches in ${directory}.`;
  const instead = 'name another directories.cache in fleet.toml, or install bubblewrap where it may mount';
  const remedy = `Run setfacl -m u:${account.name}:x ${at}, ${instead}.`;
  return refused(refusal('reader-unusable', reason, { remedy, detail: { stderr } }));
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
