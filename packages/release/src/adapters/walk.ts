import { isUtf8 } from 'node:buffer';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { atOnce, FILES_AT_ONCE } from './at-once.ts';

export type Walked =
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number; readonly executable: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'directory'; readonly path: string }
  /** A socket, device or pipe; or a name that is no UTF-8, shown as well as it can be. */
  | { readonly kind: 'other'; readonly path: string };

/** A tree with more entries is refused before it fills memory. */
export const ENTRIES_LIMIT = 200_000;

export class TreeTooLarge extends Error {
  constructor(root: string) {
    super(`${root} holds more than ${ENTRIES_LIMIT} entries`);
    this.name = 'TreeTooLarge';
  }
}

/**
 * Everything below a directory, a directory before what is in it, in order of UTF-16 code units. Links are not
 * followed.
 */
export async function walk(root: string): Promise<readonly Walked[]> {
  const found: Walked[] = [];
  const visit = async (base: string): Promise<void> => {
    const read = await readdir(join(root, base), { encoding: 'buffer' });
    const unnamed = read.filter((name) => !isUtf8(name)).map(String);
    const names = read.filter(isUtf8).map(String).toSorted();
    found.push(...unnamed.map((name) => ({ kind: 'other', path: base === '' ? name : `${base}/${name}` }) as const));
    if (found.length + names.length > ENTRIES_LIMIT) throw new TreeTooLarge(root);
    const entries: Walked[] = [];
    await atOnce(FILES_AT_ONCE, names.entries(), async ([at, name]) => {
      entries[at] = await describe(root, base === '' ? name : `${base}/${name}`);
    });
    for (const entry of entries) {
      found.push(entry);
      if (entry.kind === 'directory') await visit(entry.path);
    }
  };
  await visit('');
  return found;
}

async function describe(root: string, path: string): Promise<Walked> {
  const stat = await lstat(join(root, path));
  if (stat.isDirectory()) return { kind: 'directory', path };
  if (stat.isSymbolicLink()) return { kind: 'link', path, target: await readlink(join(root, path)) };
  if (!stat.isFile()) return { kind: 'other', path };
  return { kind: 'file', path, bytes: stat.size, executable: (stat.mode & 0o100) !== 0 };
}
