import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Digest } from '@idunn/kernel';
import { extract, type Header } from 'tar-stream';
import { type BundleEntry, EntryOrder, RootDigest } from './entry.ts';
import type { BundleManifest } from './manifest.ts';
import { CHUNK_BYTES, type Progress } from './pack.ts';
import { RefusedError } from './refused-error.ts';
import { unsafe } from './walk.ts';

/** Where the entries of a bundle go. */
export interface Sink {
  directory(entry: BundleEntry): Promise<void>;
  /** Takes the content to its end. */
  file(entry: BundleEntry, content: AsyncIterable<Uint8Array>): Promise<void>;
}

/** A sink that looks at everything and keeps nothing. */
export const NOWHERE: Sink = {
  directory: async () => {},
  async file(_, content) {
    for await (const chunk of content) void chunk;
  },
};

/**
 * Reads an archive to its end, a chunk at a time, and answers everything in which it is not what its manifest says; an
 * empty list is an archive that is intact. Throws `RefusedError` for an entry that may not be written anywhere.
 */
export async function unpack(
  archive: string,
  manifest: BundleManifest,
  sink: Sink,
  progress?: Progress,
): Promise<readonly string[]> {
  const { archive: promised } = manifest;
  const hash = createHash('sha256');
  let bytes = 0;
  const hashing = new Transform({
    transform(chunk: Uint8Array, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const tar = extract();
  const content = new RootDigest();
  const problems: string[] = [];
  const reading = pipeline(
    createReadStream(archive, { highWaterMark: CHUNK_BYTES }),
    hashing,
    createZstdDecompress({ chunkSize: CHUNK_BYTES }),
    tar,
  );
  // Whoever reads the entries hears of it too; without a listener it would end the process.
  reading.catch(() => {});
  try {
    const order = new EntryOrder();
    for await (const stream of tar) {
      const entry = entryOf(stream.header);
      const because = order.admit(entry);
      if (because !== null) throw unsafe(entry.path, because);
      const tooMuch = content.contentBytes + entry.size > promised.contentBytes || content.entries >= promised.entries;
      if (tooMuch) throw new Error('it holds more than its manifest says');
      content.add(entry, await taken(entry, stream as AsyncIterable<Uint8Array>, sink));
      progress?.(content.contentBytes);
    }
    await reading;
  } catch (error) {
    tar.destroy();
    await reading.catch(() => {});
    // The disk that refuses says nothing about the archive.
    if (error instanceof RefusedError || (error instanceof Error && 'syscall' in error)) throw error;
    problems.push(`the archive cannot be read to its end: ${error instanceof Error ? error.message : String(error)}`);
    return problems;
  }
  if (bytes !== promised.bytes) problems.push(`the archive has ${bytes} bytes instead of ${promised.bytes}`);
  if (`sha256:${hash.digest('hex')}` !== promised.digest) problems.push('the archive has another digest');
  if (content.entries !== promised.entries) {
    problems.push(`the archive has ${content.entries} entries instead of ${promised.entries}`);
  }
  if (content.value() !== promised.rootDigest) problems.push('the content has another root digest');
  return problems;
}

async function taken(entry: BundleEntry, stream: AsyncIterable<Uint8Array>, sink: Sink): Promise<Digest | null> {
  if (entry.kind === 'directory') {
    await sink.directory(entry);
    for await (const chunk of stream) void chunk;
    return null;
  }
  const hash = createHash('sha256');
  await sink.file(entry, hashed(stream, hash));
  return `sha256:${hash.digest('hex')}`;
}

async function* hashed(stream: AsyncIterable<Uint8Array>, hash: { update(chunk: Uint8Array): unknown }) {
  for await (const chunk of stream) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Only files and directories are entries; what else an archive can hold is refused by its kind. */
function entryOf({ name, type, mode, size, mtime, linkname }: Header): BundleEntry {
  const path = name.replace(/\/$/, '');
  if ((type !== 'file' && type !== 'directory') || linkname) {
    throw unsafe(name, `it is a ${type ?? 'thing of no kind'}`);
  }
  return { path, kind: type, mode: mode & 0o777, size: type === 'file' ? size : 0, mtimeMs: mtime.getTime() };
}
