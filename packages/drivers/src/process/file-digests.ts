import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Digest } from '@idunn/kernel';

/** Files remembered at once; the oldest are forgotten. */
const REMEMBERED_FILES = 10_000;
const CHUNK_BYTES = 1_048_576;

export interface DigestedFile {
  readonly device: string;
  readonly inode: string;
  readonly digest: Digest;
}

/**
 * Digests of files, remembered by device, inode, size, mtime and ctime, so that adopting 1,000 processes of one program
 * reads it once. A file that changes while it is read is an error.
 */
export class FileDigests {
  readonly #known = new Map<string, Promise<Digest>>();

  async of(path: string): Promise<DigestedFile> {
    const handle = await open(path, 'r');
    try {
      const { key, device, inode } = await this.#stamp(handle);
      let digest = this.#known.get(key);
      if (digest === undefined) {
        digest = this.#read(handle, key, path);
        this.#remember(key, digest);
      }
      return { device, inode, digest: await digest };
    } finally {
      await handle.close();
    }
  }

  async #read(handle: FileHandle, key: string, path: string): Promise<Digest> {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let position = 0; ; ) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
      position += bytesRead;
    }
    if ((await this.#stamp(handle)).key !== key) throw new Error(`${path} changed while it was read`);
    return `sha256:${hash.digest('hex')}`;
  }

  #remember(key: string, digest: Promise<Digest>): void {
    this.#known.set(key, digest);
    digest.catch(() => this.#known.delete(key));
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED_FILES && oldest !== undefined) this.#known.delete(oldest);
  }

  async #stamp(handle: FileHandle): Promise<{ key: string; device: string; inode: string }> {
    const stat = await handle.stat({ bigint: true });
    const key = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(':');
    return { key, device: String(stat.dev), inode: String(stat.ino) };
  }
}
