import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Digest } from '@idunn/kernel';

/** Files remembered at once; the oldest are forgotten. */
export const REMEMBERED_FILES = 10_000;
const PIECE_BYTES = 1_048_576;

export interface DigestedFile {
  readonly device: string;
  readonly inode: string;
  readonly digest: Digest;
}

/** Where digests outlive the daemon. */
export interface KeptDigests {
  /** Those that are kept already, by stamp. */
  readonly known: Iterable<readonly [string, Digest]>;
  keep(stamp: string, digest: Digest, changedNs: bigint): void;
}

/**
 * Digests of files, remembered by device, inode, size, mtime and ctime, so that adopting 1,000 processes of one program
 * reads it once, and adopting them again not at all. A file that changes while it is read is an error.
 */
export class FileDigests {
  readonly #known: Map<string, Promise<Digest>>;
  readonly #kept: KeptDigests | null;

  constructor(kept: KeptDigests | null = null) {
    this.#kept = kept;
    this.#known = new Map([...(kept?.known ?? [])].map(([stamp, digest]) => [stamp, Promise.resolve(digest)]));
  }

  async of(path: string): Promise<DigestedFile> {
    const status = await stat(path, { bigint: true });
    const known = this.#known.get(stampOf(status));
    return known === undefined ? this.#read(path) : digested(status, await known);
  }

  async #read(path: string): Promise<DigestedFile> {
    const handle = await open(path, 'r');
    try {
      // Not what was looked at before, if the path leads somewhere else by now.
      const status = await handle.stat({ bigint: true });
      const stamp = stampOf(status);
      let digest = this.#known.get(stamp);
      if (digest === undefined) {
        digest = this.#digest(handle, status, path);
        this.#remember(stamp, digest);
      }
      return digested(status, await digest);
    } finally {
      await handle.close();
    }
  }

  async #digest(handle: FileHandle, status: BigIntStats, path: string): Promise<Digest> {
    const hash = createHash('sha256');
    const size = Number(status.size);
    const piece = Buffer.allocUnsafe(Math.min(size + 1, PIECE_BYTES));
    for (let position = 0; ; ) {
      const { bytesRead } = await handle.read(piece, 0, piece.length, position);
      hash.update(piece.subarray(0, bytesRead));
      position += bytesRead;
      // A read that came short of what was asked met the end of the file.
      if (bytesRead === 0 || (position === size && bytesRead < piece.length)) break;
    }
    const stamp = stampOf(status);
    if (stampOf(await handle.stat({ bigint: true })) !== stamp) throw new Error(`${path} changed while it was read`);
    const digest: Digest = `sha256:${hash.digest('hex')}`;
    this.#kept?.keep(stamp, digest, status.ctimeNs);
    return digest;
  }

  #remember(stamp: string, digest: Promise<Digest>): void {
    this.#known.set(stamp, digest);
    digest.catch(() => this.#known.delete(stamp));
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED_FILES && oldest !== undefined) this.#known.delete(oldest);
  }
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;

const digested = ({ dev, ino }: BigIntStats, digest: Digest): DigestedFile => ({
  device: String(dev),
  inode: String(ino),
  digest,
});
