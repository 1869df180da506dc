import {
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { OWN_FILES } from './lease-carriers.ts';
import { parseMounts, secondFace, unfitFileSystem } from './mounts.ts';

/** Whom a state root belongs to; what Idunn makes in it belongs to the same. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The owner of a state root. Never makes one: an unmounted disk looks like a missing directory (F20). */
export function inspectRoot(root: string): Outcome<Owner> {
  const status = statSync(root, { throwIfNoEntry: false });
  if (status?.isDirectory() !== true) {
    return refused(refusal('state-root-missing', `The state root ${root} is no directory.`));
  }
  const unfit = unfitFileSystem(statfsSync(root).type);
  if (unfit !== null) {
    return refused(refusal('store-filesystem-unfit', `The state root ${root} lies on ${unfit}.`));
  }
  return ok({ uid: status.uid, gid: status.gid });
}

/** Looks at a store that is a directory of files: reached through no symbolic link below the root. */
export function inspectDirectory(root: string, path: string): Outcome<'there' | 'missing'> {
  const at = walk(root, path);
  if (!at.ok) return at;
  if (at.value === 'missing') return ok('missing');
  return at.value.isDirectory() ? ok('there') : notPlain(join(root, path), 'it is no directory');
}

/**
 * Looks at a store's file before it is opened (section 6: it is the same database): one plain file with one link,
 * reached through no symbolic link below the root, shown by one mount only. Answers whether it is there.
 */
export function inspectStore(root: string, path: string): Outcome<'there' | 'missing'> {
  const at = walk(root, path);
  if (!at.ok) return at;
  if (at.value === 'missing') return ok('missing');
  if (!at.value.isFile()) return notPlain(join(root, path), 'it is no plain file');
  if (at.value.nlink !== 1) return notPlain(join(root, path), `it has ${at.value.nlink} links`);
  const face = secondFace(realpathSync(join(root, path)), parseMounts(readFileSync('/proc/self/mountinfo', 'utf8')));
  if (face !== null) return refused(refusal('store-mounted', `The store ${join(root, path)}: ${face}.`));
  return ok('there');
}

/** Follows a store's path down from the root, through no symbolic link. */
function walk(root: string, path: string): Outcome<Stats | 'missing'> {
  const segments = path.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return notPlain(join(root, path), 'its path leaves the state root');
  }
  let found: Stats | 'missing' = 'missing';
  for (let depth = 1; depth <= segments.length; depth++) {
    const at = join(root, ...segments.slice(0, depth));
    const status = lstatSync(at, { throwIfNoEntry: false });
    if (status === undefined) return ok('missing');
    if (status.isSymbolicLink()) return notPlain(at, 'it is a symbolic link');
    found = status;
  }
  return ok(found);
}

const notPlain = (path: string, because: string): Outcome<never> =>
  refused(refusal('store-not-plain', `The store ${path}: ${because}.`));

/** Creates an empty store file, and the directories to it, for the state root's owner. */
export function createStoreFile(root: string, path: string, owner: Owner): void {
  const segments = path.split('/');
  for (let depth = 1; depth < segments.length; depth++) {
    const directory = join(root, ...segments.slice(0, depth));
    if (statSync(directory, { throwIfNoEntry: false }) !== undefined) continue;
    mkdirSync(directory, { mode: 0o700 });
    if (isRoot()) chownSync(directory, owner.uid, owner.gid);
  }
  const descriptor = openSync(join(root, path), constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600);
  try {
    if (isRoot()) {
      fchownSync(descriptor, owner.uid, owner.gid);
      // A candidate that has a user of its own reads its store before its grant, in the group of the root.
      if (!path.startsWith(OWN_FILES)) fchmodSync(descriptor, 0o640);
    }
  } finally {
    closeSync(descriptor);
  }
}

const isRoot = (): boolean => process.geteuid?.() === 0;
