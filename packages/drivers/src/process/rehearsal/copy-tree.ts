import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, opendir, readlink, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { isErrno } from '../proc.ts';

/** Entries of one `files` store. */
const ENTRIES_LIMIT = 1_000_000;

/** Bytes of all files below a directory; stops counting past `limitBytes`. Nothing is followed out of it. */
export async function sizeOfTree(root: string, limitBytes: number): Promise<number> {
  let bytes = 0;
  await walk(root, async (path, kind) => {
    const { size } = await lstat(path);
    if (kind === 'file') bytes += size;
    return bytes <= limitBytes;
  });
  return bytes;
}

/**
 * Copies a directory as it is just then, while its program may write: a file that goes meanwhile is left out. Links are
 * copied as links where they stay inside, and left out elsewhere, as are sockets, fifos and devices.
 */
export async function copyTree(from: string, to: string, limitBytes: number): Promise<void> {
  const modes: (readonly [path: string, mode: number])[] = [];
  let left = limitBytes;
  await walk(from, async (path, kind) => {
    const target = join(to, relative(from, path));
    const { mode, uid, gid, size } = await lstat(path);
    if (kind === 'directory') {
      await mkdir(target, { mode: mode | 0o700 });
      modes.push([target, mode]);
    } else if (kind === 'link') {
      const aim = await readlink(path);
      if (!staysInside(from, path, aim)) return true;
      await symlink(aim, target);
    } else {
      left -= size;
      if (left < 0) throw new Error(`${from} grew over the limit while it was copied`);
      await copyFile(path, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    }
    if (process.geteuid?.() === 0) await lchown(target, uid, gid);
    return true;
  });
  for (const [path, mode] of modes.toReversed()) await chmod(path, mode);
}

function staysInside(root: string, link: string, aim: string): boolean {
  if (isAbsolute(aim)) return false;
  const place = relative(root, join(dirname(link), aim));
  return place !== '..' && !place.startsWith('../');
}

type Kind = 'directory' | 'file' | 'link';

/** Every directory, file and link, parents first, while `visit` says true. A root that is not there has nothing. */
async function walk(root: string, visit: (path: string, kind: Kind) => Promise<boolean>): Promise<void> {
  const waiting: string[] = [];
  let entries = 0;
  const meet = async (path: string, kind: Kind): Promise<boolean> => {
    entries += 1;
    if (entries > ENTRIES_LIMIT) throw new Error(`${root} has more than ${ENTRIES_LIMIT} entries`);
    try {
      const goOn = await visit(path, kind);
      if (kind === 'directory') waiting.push(path);
      return goOn;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return true;
      throw error;
    }
  };
  if (!(await meet(root, 'directory'))) return;
  for (let directory = waiting.shift(); directory !== undefined; directory = waiting.shift()) {
    for await (const entry of await opendir(directory)) {
      const kind = entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : null;
      if (kind !== null && !(await meet(join(directory, entry.name), kind))) return;
    }
  }
}
