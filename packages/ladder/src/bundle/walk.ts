import { isUtf8 } from 'node:buffer';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { refusal } from '@idunn/kernel';
import { type BundleEntry, compareNames, EntryOrder } from './entry.ts';
import { RefusedError } from './refused-error.ts';

/**
 * Every file and directory beneath `root`, in the order of a bundle. Throws `RefusedError` at the first thing that
 * cannot be part of one.
 */
export async function* walk(root: string): AsyncGenerator<BundleEntry> {
  const order = new EntryOrder();
  yield* walkDirectory(root, '', order);
}

async function* walkDirectory(root: string, base: string, order: EntryOrder): AsyncGenerator<BundleEntry> {
  const names = await readdir(join(root, base), { encoding: 'buffer' });
  const unreadable = names.find((name) => !isUtf8(name));
  if (unreadable !== undefined) throw unsafe(join(base, unreadable.toString('latin1')), 'its name is not valid UTF-8');
  for (const name of names.map((bytes) => bytes.toString('utf8')).toSorted(compareNames)) {
    const path = base === '' ? name : `${base}/${name}`;
    const stat = await lstat(join(root, path));
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : null;
    if (kind === null) throw unsafe(path, 'it is neither a file nor a directory');
    const because = order.admit({ path, kind });
    if (because !== null) throw unsafe(path, because);
    yield { path, kind, mode: stat.mode & 0o777, size: kind === 'file' ? stat.size : 0, mtimeMs: stat.mtimeMs };
    if (kind === 'directory') yield* walkDirectory(root, path, order);
  }
}

export const unsafe = (path: string, because: string): RefusedError =>
  new RefusedError(refusal('bundle-path-unsafe', `${JSON.stringify(path)} cannot be part of a bundle: ${because}.`));
