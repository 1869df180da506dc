import { createHash } from 'node:crypto';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
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
  for (const name of await readdir(directory, { encoding: 'buffer' })) {
    const path = join(directory, name.toString('utf8'));
    const { mode, id } = await entryId(path, format);
    const tree = mode === '40000';
    entries.push({
      order: tree ? Buffer.concat([name, Buffer.from('/')]) : name,
      bytes: Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), id]),
    });
  }
  entries.sort((left, right) => Buffer.compare(left.order, right.order));
  return objectId(format, 'tree', Buffer.concat(entries.map(({ bytes }) => bytes)));
}

async function entryId(path: string, format: Format): Promise<{ readonly mode: string; readonly id: Buffer }> {
  const stat = await lstat(path);
  if (stat.isDirectory()) return { mode: '40000', id: await treeId(path, format) };
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
