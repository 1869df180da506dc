import { createHash } from 'node:crypto';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gitlink, ObjectFormat, SourceFacts } from '../model/source-facts.ts';
import { atOnce, FILES_AT_ONCE } from './at-once.ts';
import { hashFile } from './files.ts';

/** What a tree is held against: the object format of its ids, and the submodules in it. */
export type TreeShape = Pick<SourceFacts, 'objectFormat' | 'gitlinks'>;

/**
 * The git tree id of what is on disk, computed from its bytes alone (git's object format: `tree SIZE NUL`, then `MODE
 * NAME NUL ID` for each entry, directories ordered as if their names ended in a slash). A submodule counts as the
 * commit that it is at only when what is in it is that commit's tree. An empty directory counts as an empty tree.
 * Throws for anything that is no file, link or directory.
 */
export async function treeIdOf(directory: string, { objectFormat, gitlinks }: TreeShape): Promise<string> {
  const links = new Map(gitlinks.map((link) => [link.path, link]));
  return (await treeId({ root: directory, links }, '', objectFormat)).toString('hex');
}

interface Place {
  readonly root: string;
  readonly links: ReadonlyMap<string, Gitlink>;
}

async function treeId(place: Place, base: string, format: ObjectFormat): Promise<Buffer> {
  const entries: { readonly order: Buffer; readonly bytes: Buffer }[] = [];
  const add = (name: Buffer, mode: string, id: Buffer): void => {
    entries.push({
      order: mode === '40000' ? Buffer.concat([name, Buffer.from('/')]) : name,
      bytes: Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), id]),
    });
  };
  const directories: Buffer[] = [];
  await atOnce(FILES_AT_ONCE, await readdir(join(place.root, base), { encoding: 'buffer' }), async (name) => {
    const leaf = await leafId(join(place.root, base, name.toString('utf8')), format);
    if (leaf === null) directories.push(name);
    else add(name, leaf.mode, leaf.id);
  });
  for (const name of directories) {
    const path = base === '' ? name.toString('utf8') : `${base}/${name.toString('utf8')}`;
    const link = place.links.get(path);
    const id = await treeId(place, path, link?.objectFormat ?? format);
    if (link !== undefined && id.toString('hex') === link.tree) add(name, '160000', Buffer.from(link.commit, 'hex'));
    else add(name, '40000', id);
  }
  entries.sort((left, right) => Buffer.compare(left.order, right.order));
  return objectId(format, 'tree', Buffer.concat(entries.map(({ bytes }) => bytes)));
}

/** The mode and id of a file or link; `null` for a directory. */
async function leafId(
  path: string,
  format: ObjectFormat,
): Promise<{ readonly mode: string; readonly id: Buffer } | null> {
  const stat = await lstat(path);
  if (stat.isDirectory()) return null;
  if (stat.isSymbolicLink()) {
    return { mode: '120000', id: objectId(format, 'blob', await readlink(path, { encoding: 'buffer' })) };
  }
  if (!stat.isFile()) throw new TypeError(`${path} is neither file, link nor directory`);
  const hash = createHash(format).update(`blob ${stat.size}\0`);
  await hashFile(path, hash, stat.size);
  return { mode: (stat.mode & 0o100) === 0 ? '100644' : '100755', id: hash.digest() };
}

/** A git object id from the object's bytes. */
export function objectId(format: ObjectFormat, kind: 'blob' | 'tree' | 'commit', bytes: Uint8Array): Buffer {
  return createHash(format).update(`${kind} ${bytes.length}\0`).update(bytes).digest();
}
