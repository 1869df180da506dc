import { createHash } from 'node:crypto';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { atOnce, FILES_AT_ONCE } from './at-once.ts';
import { hashFile } from './files.ts';

type Format = 'sha1' | 'sha256';

/**
 * The git tree id of what is on disk, computed from its bytes alone (git's object format: `tree SIZE NUL`, then `MODE
 * NAME NUL ID` for each entry, directories ordered as if their names ended in a slash). An empty directory counts as
 * an empty tree, which git never has, so it shows as a difference. Throws for anything that is no file, link or
 * directory.
 */
export async function treeIdOf(directory: string, format: Format): Promise<string> {
  return (await treeId(directory, format)).toString('hex');
}

async function treeId(directory: string, format: Format): Promise<Buffer> {
  const entries: { readonly order: Buffer; readonly bytes: Buffer }[] = [];
  const add = (name: Buffer, mode: string, id: Buffer): void => {
    entries.push({
      order: mode === '40000' ? Buffer.concat([name, Buffer.from('/')]) : name,
      bytes: Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), id]),
    });
  };
  const directories: Buffer[] = [];
  await atOnce(FILES_AT_ONCE, await readdir(directory, { encoding: 'buffer' }), async (name) => {
    const leaf = await leafId(join(directory, name.toString('utf8')), format);
    if (leaf === null) directories.push(name);
    else add(name, leaf.mode, leaf.id);
  });
  for (const name of directories) add(name, '40000', await treeId(join(directory, name.toString('utf8')), format));
  entries.sort((left, right) => Buffer.compare(left.order, right.order));
  return objectId(format, 'tree', Buffer.concat(entries.map(({ bytes }) => bytes)));
}

/** The mode and id of a file or link; `null` for a directory. */
async function leafId(path: string, format: Format): Promise<{ readonly mode: string; readonly id: Buffer } | null> {
  const stat = await lstat(path);
  if (stat.isDirectory()) return null;
  if (stat.isSymbolicLink()) {
    return { mode: '120000', id: objectId(format, 'blob', await readlink(path, { encoding: 'buffer' })) };
  }
  if (!stat.isFile()) throw new TypeError(`${path} is neither file, link nor directory`);
  const hash = createHash(format).update(`blob ${stat.size}\0`);
  await hashFile(path, hash);
  return { mode: (stat.mode & 0o100) === 0 ? '100644' : '100755', id: hash.digest() };
}

/** A git object id from the object's bytes. */
export function objectId(format: Format, kind: 'blob' | 'tree', bytes: Uint8Array): Buffer {
  return createHash(format).update(`${kind} ${bytes.length}\0`).update(bytes).digest();
}
