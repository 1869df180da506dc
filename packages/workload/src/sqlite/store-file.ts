import { type BigIntStats, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IdunnError } from '../errors.ts';
import { EVERY_RULE, type Without } from './rules.ts';

/** A file beyond its name. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

/**
 * Looks at a store's file before (and after) it is opened: an absolute path to a plain file with one link that is no
 * mount point itself, because SQLite's locks and side files follow the name, and a second name is a second database
 * (I1). Throws `IdunnError`.
 */
export function inspectStoreFile(
  path: string,
  without: Without = EVERY_RULE,
  mountInfo: () => string = readMountInfo,
): FileIdentity {
  if (!without.has('no-uri') && !path.startsWith('/')) {
    throw new IdunnError('workload-store-uri', `The store path ${path} is not an absolute path`);
  }
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (status?.isFile() !== true) {
    const what = status === undefined ? 'does not exist' : 'is no plain file';
    throw new IdunnError('workload-store-not-a-plain-file', `The store ${path} ${what}`);
  }
  if (!without.has('one-link') && status.nlink !== 1n) {
    throw new IdunnError('workload-store-not-a-plain-file', `The store ${path} has ${status.nlink} links`);
  }
  if (!without.has('no-mount-point') && mountPoints(mountInfo()).has(realPath(path))) {
    throw new IdunnError('workload-store-mount-point', `The store ${path} is a mount point of its own`);
  }
  return identityOf(status);
}

/** What the path names at this moment; `null` when it names nothing. One system call: asked before every write. */
export function identityAt(path: string): FileIdentity | null {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? null : identityOf(status);
}

export const sameFile = (left: FileIdentity | null, right: FileIdentity | null): boolean =>
  left !== null && right !== null && left.device === right.device && left.inode === right.inode;

/**
 * True when one of this process's open descriptors is the file; where the system shows none, nothing contradicts it.
 */
export function isOpenHere(file: FileIdentity): boolean {
  let names: readonly string[];
  try {
    names = readdirSync('/proc/self/fd');
  } catch {
    return true;
  }
  return names.some((name) => sameFile(identityAt(join('/proc/self/fd', name)), file));
}

/** The mount points of a /proc/PID/mountinfo text: its fifth field, with octal escapes undone. */
export function mountPoints(mountInfo: string): ReadonlySet<string> {
  const points = mountInfo.split('\n').map((line) => line.split(' ')[4] ?? '');
  return new Set(points.map((point) => point.replace(/\\([0-7]{3})/g, (_, octal: string) => unescapeOctal(octal))));
}

const unescapeOctal = (octal: string): string => String.fromCharCode(Number.parseInt(octal, 8));

function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return ''; // Not Linux: nothing mounts a single file there.
  }
}

/** The directory may be reached through links; the file itself may not be one. */
export const realPath = (path: string): string =>
  join(realpathSync(dirname(path)), path.slice(path.lastIndexOf('/') + 1));

const identityOf = (status: BigIntStats): FileIdentity => ({ device: status.dev, inode: status.ino });
