import { createHash } from 'node:crypto';
import { canonicalJson, type Digest } from '@idunn/kernel';

/** One file or directory of a bundle. Links, devices, sockets and pipes are none. */
export interface BundleEntry {
  /** From the root of the bundle, with slashes. */
  readonly path: string;
  readonly kind: 'file' | 'directory';
  /** Permission bits only. */
  readonly mode: number;
  /** Bytes; 0 for a directory. */
  readonly size: number;
  readonly mtimeMs: number;
}

const PATH_LIMIT_BYTES = 4_096;
const NAME_LIMIT_BYTES = 255;
/** Most entries of one directory. */
export const DIRECTORY_LIMIT = 1_000_000;

/** Why a path cannot be part of a bundle; `null` when it can. The same everywhere: no system reads it in two ways. */
export function unsafeEntryPath(path: string): string | null {
  if (path === '' || Buffer.byteLength(path) > PATH_LIMIT_BYTES) return 'it is empty or too long';
  if (!path.isWellFormed() || path.includes('\uFFFD')) return 'it is not valid UTF-8';
  if (/\p{Cc}/u.test(path) || path.includes('\\')) return 'it holds control characters or backslashes';
  for (const name of path.split('/')) {
    if (name === '' || name === '.' || name === '..') return 'it does not stay inside';
    if (Buffer.byteLength(name) > NAME_LIMIT_BYTES) return 'a name of it is too long';
  }
  return null;
}

/** By the bytes of the name. */
export const compareNames = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** How a file system that ignores case or composition takes a name. */
const folded = (name: string): string => name.normalize('NFC').toLowerCase();

interface Level {
  readonly last: string;
  readonly seen: Set<string>;
}

/**
 * Holds a stream of entries to the one order of a bundle: each directory before what is in it, names in the order of
 * their bytes. So nothing comes twice and nothing comes beneath what is no directory, and only the names beside the
 * current path need to be remembered.
 */
export class EntryOrder {
  readonly #levels: Level[] = [{ last: '', seen: new Set() }];
  readonly #path: string[] = [];

  /** Why the entry may not come here; `null` when it may. */
  admit({ path, kind }: Pick<BundleEntry, 'path' | 'kind'>): string | null {
    const unsafe = unsafeEntryPath(path);
    if (unsafe !== null) return unsafe;
    const names = path.split('/');
    const name = names.pop() ?? '';
    if (names.some((part, index) => this.#path[index] !== part)) return 'its directory did not come before it';
    this.#path.length = names.length;
    this.#levels.length = names.length + 1;
    const level = this.#levels[names.length];
    if (level === undefined) return 'it lies beneath a file';
    if (level.last !== '' && compareNames(level.last, name) >= 0) return 'it comes twice or out of order';
    if (level.seen.has(folded(name))) return 'its name differs from another in case or composition only';
    if (level.seen.size >= DIRECTORY_LIMIT) return `its directory holds more than ${DIRECTORY_LIMIT} entries`;
    level.seen.add(folded(name));
    this.#levels[names.length] = { ...level, last: name };
    if (kind === 'directory') {
      this.#path.push(name);
      this.#levels.push({ last: '', seen: new Set() });
    }
    return null;
  }
}

/** The digest of everything that a bundle holds, entry by entry; times are no content. */
export class RootDigest {
  readonly #hash = createHash('sha256');
  entries = 0;
  contentBytes = 0;

  add({ path, kind, mode, size }: BundleEntry, digest: Digest | null): void {
    this.#hash.update(`${canonicalJson({ path, kind, mode, size, digest })}\n`);
    this.entries += 1;
    this.contentBytes += size;
  }

  value(): Digest {
    return `sha256:${this.#hash.digest('hex')}`;
  }
}
