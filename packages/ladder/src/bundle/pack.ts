import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, constants as zlib } from 'node:zlib';
import { type Digest, refusal } from '@idunn/kernel';
import { type Pack, pack as tarPack } from 'tar-stream';
import { type BundleEntry, RootDigest } from './entry.ts';
import { writeAll } from './files.ts';
import { RefusedError } from './refused-error.ts';
import { walk } from './walk.ts';

export interface Packed {
  readonly bytes: number;
  readonly digest: Digest;
  readonly entries: number;
  readonly contentBytes: number;
  readonly rootDigest: Digest;
}

/** How much of a file or an archive is handled at a time; larger pieces cost more to allocate than they save. */
export const CHUNK_BYTES = 128 * 1024;

/** Told with the bytes of content that were handled so far. */
export type Progress = (contentBytes: number) => void;

/** Packs everything beneath `root` into an open file, a chunk at a time. Throws `RefusedError`. */
export async function packInto(file: FileHandle, root: string, progress?: Progress): Promise<Packed> {
  const tar = tarPack();
  const content = new RootDigest();
  const archive = createHash('sha256');
  let bytes = 0;
  const feeding = feed(tar, root, content, progress).catch((error: Error) => tar.destroy(error));
  const compress = createZstdCompress({ chunkSize: CHUNK_BYTES, params: { [zlib.ZSTD_c_checksumFlag]: 1 } });
  try {
    await pipeline(tar as AsyncIterable<Uint8Array>, compress, async (compressed: AsyncIterable<Uint8Array>) => {
      for await (const chunk of compressed) {
        archive.update(chunk);
        bytes += chunk.length;
        await writeAll(file, chunk);
      }
    });
  } finally {
    await feeding;
  }
  const digest: Digest = `sha256:${archive.digest('hex')}`;
  const { entries, contentBytes } = content;
  return { bytes, digest, entries, contentBytes, rootDigest: content.value() };
}

async function feed(tar: Pack, root: string, content: RootDigest, progress?: Progress): Promise<void> {
  for await (const entry of walk(root)) {
    if (tar.destroying) return;
    if (entry.kind === 'directory') tar.entry({ ...headerOf(entry), type: 'directory' });
    content.add(entry, entry.kind === 'file' ? await packFile(tar, root, entry) : null);
    progress?.(content.contentBytes);
  }
  tar.finalize();
}

/** One file, held to the size that its header promises: a file that grows or shrinks meanwhile is refused. */
async function packFile(tar: Pack, root: string, entry: BundleEntry): Promise<Digest> {
  const hash = createHash('sha256');
  const file = await open(join(root, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const sink = tar.entry({ ...headerOf(entry), type: 'file', size: entry.size });
    const written = new Promise<void>((resolve, reject) => {
      sink.once('error', reject);
      sink.once('close', resolve);
    });
    written.catch(() => {});
    let read = 0;
    for await (const chunk of file.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false })) {
      const bytes = chunk as Buffer;
      read += bytes.length;
      if (read > entry.size) throw changed(entry);
      if (tar.destroying) break;
      hash.update(bytes);
      if (!sink.write(bytes)) await Promise.race([once(sink, 'drain'), written]);
    }
    if (read !== entry.size && !tar.destroying) throw changed(entry);
    sink.end(null);
    await written;
  } finally {
    await file.close();
  }
  return `sha256:${hash.digest('hex')}`;
}

const headerOf = ({ path, mode, mtimeMs }: BundleEntry) => ({
  name: path,
  mode,
  mtime: new Date(Math.floor(mtimeMs / 1_000) * 1_000),
  uid: 0,
  gid: 0,
});

const changed = ({ path }: BundleEntry): RefusedError =>
  new RefusedError(refusal('bundle-source-changed', `${JSON.stringify(path)} changed while it was sealed.`));
