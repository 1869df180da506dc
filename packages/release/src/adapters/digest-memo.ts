import { stat } from 'node:fs/promises';
import type { Clock, Digest } from '@idunn/kernel';
import { digestFile } from './files.ts';

const REMEMBERED_LIMIT = 100_000;
/** A file that changed so recently could change again without its times showing it. */
const SETTLED_MS = 1_000;

/** Digests of files, remembered by device, inode, size, mtime and ctime, so that no file is read twice without need. */
export interface DigestMemo {
  digest(path: string): Promise<Digest>;
}

export function createDigestMemo(clock: Clock, read: (path: string) => Promise<Digest> = digestFile): DigestMemo {
  const remembered = new Map<string, Digest>();
  const key = async (path: string): Promise<{ readonly key: string; readonly settled: boolean }> => {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    const settled = Math.abs(clock.wallMs() - Number(ctimeNs / 1_000_000n)) > SETTLED_MS;
    return { key: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`, settled };
  };
  return {
    async digest(path) {
      const before = await key(path);
      const known = remembered.get(before.key);
      if (known !== undefined) return known;
      const digest = await read(path);
      if (before.settled && (await key(path)).key === before.key) {
        if (remembered.size >= REMEMBERED_LIMIT) remembered.delete(remembered.keys().next().value ?? '');
        remembered.set(before.key, digest);
      }
      return digest;
    },
  };
}
