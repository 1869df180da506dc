import { type Dirent, type Stats } from 'node:fs';
import { chmod, lchown, lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { StateContract, StateStore } from '@idunn/release';
import { leaseFileOf } from '../../sqlite-lease/lease-carriers.ts';
import { isErrno, messageOf } from '../proc.ts';
import type { RunsAs } from './words.ts';

/** Entries of one `files` store that are handed over. */
const ENTRIES_LIMIT = 1_000_000;
/** What SQLite keeps beside a database. */
const SIDE_FILES = ['', '-wal', '-shm', '-journal'];

const ROOT = 0;
/** Owner may write, the workload's group may read; what is made inside belongs to that group. */
const DIRECTORY_MODE = 0o2750;
const CLOSED_TO_ALL_MODE = 0o700;
const FILE_MODE = 0o640;

/**
 * Opens the state to one user: it owns the databases and the directories afterwards. Whoever owned them before opens
 * nothing any more; what it has open stays open, and is the row's to judge. Safe to repeat, and to begin anew after a
 * crash: on the way nobody but root can make or replace anything in a directory that was reached.
 */
export function openState(state: StateContract, runs: RunsAs): Promise<Outcome<'open'>> {
  return attempt(state, async () => {
    // A grant that is repeated takes nothing from its holder, not for a moment (I7).
    if (await isOpenTo(state, runs)) return 'open' as const;
    const places = await close(state, runs);
    for (const store of state.stores) {
      const path = join(places.root, store.path);
      if (store.kind === 'files') await giveTree(path, runs);
      else await giveDatabase(path, runs.uid, groupFor(runs));
    }
    for (const directory of places.directories.toReversed()) await give(directory, runs.uid, groupFor(runs));
    return 'open' as const;
  });
}

/**
 * Closes the state: root owns the databases and the directories. The workload's group may read where the program is to
 * look at its databases before its grant; elsewhere nobody passes.
 */
export function closeState(state: StateContract, runs: RunsAs): Promise<Outcome<'closed'>> {
  return attempt(state, async () => {
    const { root } = await close(state, runs);
    for (const store of state.stores) {
      const path = join(root, store.path);
      if (store.kind === 'sqlite' && state.lease === 'rows') await giveDatabase(path, ROOT, groupFor(runs));
    }
    return 'closed' as const;
  });
}

/**
 * Lets the workload's group read what root itself still writes: the incumbent is of a time before the workload had a
 * user. What is somebody else's was given by us, and stays as it is.
 */
export function letRead(state: StateContract, runs: RunsAs): Promise<Outcome<'readable'>> {
  return attempt(state, async () => {
    if (state.lease === 'file') return 'readable' as const;
    const root = await realpath(state.root);
    const ours = async (path: string): Promise<boolean> => (await statusOf(path))?.uid === ROOT;
    for (const store of state.stores) {
      if (store.kind !== 'sqlite') continue;
      const above = [root, ...directoriesOf(root, store)];
      for (const directory of above) if (await ours(directory)) await give(directory, ROOT, groupFor(runs));
      if (await ours(above.at(-1) ?? root)) await giveDatabase(join(root, store.path), ROOT, groupFor(runs));
    }
    return 'readable' as const;
  });
}

/** Takes every directory to the stores for root, from above, so that nothing below can be exchanged any more. */
async function close(state: StateContract, runs: RunsAs): Promise<{ root: string; directories: readonly string[] }> {
  const root = await realpath(state.root);
  const directories = [root, ...state.stores.flatMap((store) => directoriesOf(root, store))];
  const there: string[] = [];
  for (const directory of new Set(directories)) {
    const status = await statusOf(directory);
    if (status === null) continue;
    if (!status.isDirectory()) throw new Error(`${directory} is no directory`);
    await give(
      directory,
      ROOT,
      groupFor(runs),
      mayBeRead(state, directory, root) ? DIRECTORY_MODE : CLOSED_TO_ALL_MODE,
    );
    there.push(directory);
  }
  if (state.lease === 'file') await giveDatabase(leaseFileOf({ ...state, root }), ROOT, groupFor(runs));
  return { root, directories: there };
}

/** A directory of files is nobody's before the grant; databases are looked at. */
const mayBeRead = (state: StateContract, directory: string, root: string): boolean =>
  state.lease === 'rows' &&
  !state.stores.some((store) => store.kind === 'files' && join(root, store.path) === directory);

function directoriesOf(root: string, { kind, path }: StateStore): readonly string[] {
  const segments = path.split('/');
  const depth = kind === 'files' ? segments.length : segments.length - 1;
  return Array.from({ length: depth }, (_, index) => join(root, ...segments.slice(0, index + 1)));
}

async function isOpenTo(state: StateContract, { uid }: RunsAs): Promise<boolean> {
  const root = await realpath(state.root);
  const places = state.stores.flatMap((store) => [
    ...directoriesOf(root, store),
    ...(store.kind === 'files' ? [] : SIDE_FILES.map((side) => join(root, `${store.path}${side}`))),
  ]);
  const owners = await Promise.all([root, ...places].map(async (path) => (await statusOf(path))?.uid ?? uid));
  return owners.every((owner) => owner === uid);
}

async function giveDatabase(path: string, uid: number, gid: number): Promise<void> {
  for (const side of SIDE_FILES) {
    const file = `${path}${side}`;
    const status = await statusOf(file);
    if (status === null) continue;
    if (!status.isFile() || status.nlink !== 1) throw new Error(`${file} is no plain file with one link`);
    await give(file, uid, gid, FILE_MODE);
  }
}

/**
 * Hands a whole directory over, entries first and those of the top last: a top whose entries are all given was given
 * whole. Only root can change anything on the way.
 */
async function giveTree(top: string, runs: RunsAs): Promise<void> {
  if ((await statusOf(top)) === null) return;
  let entries = 0;
  const giveEntry = async (path: string, entry: Dirent): Promise<void> => {
    entries += 1;
    if (entries > ENTRIES_LIMIT) throw new Error(`${top} has more than ${ENTRIES_LIMIT} entries`);
    const status = await lstat(path);
    if (status.isFile() && status.nlink !== 1) throw new Error(`${path} has ${status.nlink} links`);
    if (entry.isDirectory()) {
      if (status.uid === runs.uid) await lchown(path, ROOT, groupFor(runs));
      await giveAll(path);
    }
    await lchown(path, runs.uid, groupFor(runs));
  };
  const giveAll = async (directory: string): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      await giveEntry(join(directory, entry.name), entry);
    }
  };
  if (await isGiven(top, runs)) return;
  await giveAll(top);
}

async function isGiven(top: string, { uid }: RunsAs): Promise<boolean> {
  for (const name of await readdir(top)) if ((await lstat(join(top, name))).uid !== uid) return false;
  return true;
}

/** Never through a link: what is given is what was looked at, or fails. */
async function give(path: string, uid: number, gid: number, mode = DIRECTORY_MODE): Promise<void> {
  const status = await lstat(path);
  if (status.isSymbolicLink()) throw new Error(`${path} is a symbolic link`);
  if (status.uid !== uid || status.gid !== gid) await lchown(path, uid, gid);
  if ((status.mode & 0o7777) !== mode) await chmod(path, mode);
}

const groupFor = ({ gid, stateGid }: RunsAs): number => stateGid ?? gid;

async function statusOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

async function attempt<T>({ stateId }: StateContract, act: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return ok(await act());
  } catch (error) {
    return refused(
      refusal('state-not-opened', `The state ${stateId} cannot be given to its workload: ${messageOf(error)}.`),
    );
  }
}
