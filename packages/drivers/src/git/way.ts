import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Outcome, ok } from '@idunn/kernel';
import { isClosed } from '../process/user/modes.ts';
import { closedTo, foreign, READ_PARTS, unreadableIn } from './barred.ts';
import { transportOf } from './command.ts';
import type { Way } from './opening.ts';
import type { Git } from './process.ts';
import type { Account } from './reader.ts';
import { repositoryAt } from './repository-at.ts';

const PLAIN: Way = { trusted: false, repository: null, opening: null };
const WRITABLE_BY_OTHERS = 0o022;
/** Everybody may make entries there, and nobody may move those of others. */
const STICKY = 0o1000;

/**
 * The way to an origin. Where a directory on it is closed to the reader, the daemon opens it only when everything on
 * the way is root's own, so that nobody else decides where it leads: what another user has closed is that user's to
 * open.
 */
export async function wayTo(git: Git, origin: string, signal: AbortSignal): Promise<Outcome<Way>> {
  const { account, owners } = git.reader;
  const found = transportOf(origin) === 'file' ? await repositoryAt(origin, owners) : null;
  // What is not there, or cannot be looked at, is git's to judge.
  if (found === null) return ok(PLAIN);
  const { repository, entered, trusted } = found;
  const closed = account === null ? null : await firstClosedOf(git, entered, account, signal);
  if (account === null || closed === null) return ok({ trusted, repository, opening: null });
  if (!trusted) return foreign(origin);
  if (closed === repository) {
    return (await unreadableIn(repository, origin, account)) ?? closedTo(account, closed, origin, false);
  }
  // One place can be shown. What keeps its data elsewhere is more than one.
  if (entered.length > 1 || !(await isRootsOwn(repository))) return closedTo(account, closed, origin, false);
  const opening = { closed, shown: repository, writable: false };
  return git.opens ? ok({ trusted, repository, opening }) : closedTo(account, closed, origin, true);
}

async function firstClosedOf(
  git: Git,
  directories: readonly string[],
  account: Account,
  signal: AbortSignal,
): Promise<string | null> {
  for (const directory of directories) {
    const closed = await firstClosed(git, directory, account, signal);
    if (closed !== null) return closed;
  }
  return null;
}

/** The first directory on the way, its end included, that the reader cannot enter. */
export async function firstClosed(
  git: Git,
  directory: string,
  account: Account,
  signal: AbortSignal,
): Promise<string | null> {
  const real = await realpath(directory);
  for (const at of new Set([...wayDown(directory), ...wayDown(real)])) {
    if (!(await isClosed(at, { ...account, stateGid: null }))) continue;
    // A list of access rights can say more than the modes do: the reader itself tries.
    if (!(await enters(git, at, signal))) return at;
  }
  return null;
}

/**
 * What a list of access rights keeps from the reader where the modes do not, as the reader itself finds it: a directory
 * on the way into a repository, or a part of it.
 */
export async function firstShut(
  git: Git,
  repository: string,
  signal: AbortSignal,
): Promise<{ readonly kind: 'directory' | 'part'; readonly path: string } | null> {
  const real = await realpath(repository);
  for (const path of new Set([...wayDown(repository), ...wayDown(real)])) {
    if (!(await enters(git, path, signal))) return { kind: 'directory', path };
  }
  for (const path of READ_PARTS.map((part) => join(repository, part))) {
    const about = await lstat(path).catch(() => null);
    if (about === null || about.isSymbolicLink()) continue;
    const reads = about.isDirectory() ? await enters(git, path, signal) : await opens(git, path, signal);
    if (!reads) return { kind: 'part', path };
  }
  return null;
}

async function enters(git: Git, directory: string, signal: AbortSignal): Promise<boolean> {
  const { exit } = await git.alone.run({ directory: null, words: ['-C', directory, '--version'], signal }, 1_024);
  return exit === 0;
}

async function opens(git: Git, file: string, signal: AbortSignal): Promise<boolean> {
  const words = ['hash-object', '--no-filters', '--end-of-options', file];
  const { exit } = await git.alone.run({ directory: null, words, signal }, 1_024);
  return exit === 0;
}

/** Whether nobody but root decides what is found under this path. */
export async function isRootsOwn(path: string): Promise<boolean> {
  if ((await realpath(path)) !== path) return false;
  for (const at of wayDown(dirname(path))) {
    const { uid, mode } = await lstat(at);
    if (uid !== 0 || ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)) return false;
  }
  return true;
}

/** A directory and those above it, the highest first. */
function wayDown(directory: string): readonly string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [...wayDown(above), directory];
}
