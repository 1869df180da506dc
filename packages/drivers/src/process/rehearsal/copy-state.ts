import { chown, lstat, mkdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StateStore } from '@idunn/release';
import { isErrno } from '../proc.ts';
import { copyDatabase } from './copy-database.ts';
import type { CopyAnswer, CopyOrders } from './copy-orders.ts';
import { copyTree, sizeOfTree } from './copy-tree.ts';

/** So much of a disk is left free whatever is copied. */
const RESERVE_BYTES = 67_108_864;

/** Copies the stores of a state that are there; measures all of them, and the disk, before it writes anything. */
export async function copyState(orders: CopyOrders): Promise<CopyAnswer> {
  const { from, to, stores, limitBytes } = orders;
  const sizes = await Promise.all(stores.map((store) => sizeOf(join(from, store.path), store.kind, limitBytes)));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > limitBytes) return { kind: 'too-large', bytes };
  const { bavail, bsize } = await statfs(dirname(to));
  const freeBytes = bavail * bsize;
  if (bytes + RESERVE_BYTES > freeBytes) return { kind: 'no-space', bytes, freeBytes };
  await mkdir(to, { mode: 0o700 });
  await givenLike(from, to);
  for (const store of stores) await copyStore(store, orders);
  return { kind: 'copied', bytes };
}

async function copyStore({ kind, path }: StateStore, { from, to, limitBytes }: CopyOrders): Promise<void> {
  const segments = path.split('/');
  for (let depth = 1; depth < segments.length; depth++) {
    const directory = segments.slice(0, depth).join('/');
    await mkdir(join(to, directory), { recursive: true, mode: 0o700 });
    await givenLike(join(from, directory), join(to, directory));
  }
  const source = join(from, path);
  const target = join(to, path);
  if (kind === 'files') return copyTree(source, target, limitBytes);
  if (await isThere(source)) {
    await copyDatabase(source, target);
    await givenLike(source, target);
  }
}

async function sizeOf(path: string, kind: StateStore['kind'], limitBytes: number): Promise<number> {
  if (kind === 'files') return sizeOfTree(path, limitBytes);
  const sizes = await Promise.all(
    [path, `${path}-wal`].map(async (file) => ((await isThere(file)) ? stat(file) : null)),
  );
  return sizes.reduce((sum, status) => sum + (status?.size ?? 0), 0);
}

/** As root, a copy belongs to whom the original does: the program may run as that user. */
async function givenLike(original: string, copy: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = await lstat(original).catch(() => ({ uid: 0, gid: 0 }));
  await chown(copy, uid, gid);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
