import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { staysInside } from '@idunn/release';
import { BatchReader, parseHeader } from './batch.ts';
import { isLfsPointer, LFS_POINTER_LIMIT_BYTES } from './lfs.ts';
import type { TreeEntry } from './listing.ts';
import { Window } from './window.ts';

const LINK_LIMIT_BYTES = 4_096;
/** A blob up to this size is written while the next ones are read. */
const WHOLE_LIMIT_BYTES = 262_144;
const WRITES_AT_ONCE = 16;
/** Paths that one refusal names; of more it tells the number. */
const NAMED_LIMIT = 20;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * A stage's tree in the making, from one repository or, with submodules, several. Links are made last, so that no file
 * is ever written through one, and only when all of them stay inside the tree.
 */
export class Checkout {
  readonly #tree: string;
  readonly #lfsPointers: 'refuse' | 'keep';
  readonly #made: Set<string>;
  readonly #links = new Map<string, string>();
  readonly #pointers: string[] = [];
  constructor(tree: string, lfsPointers: 'refuse' | 'keep') {
    this.#tree = tree;
    this.#lfsPointers = lfsPointers;
    this.#made = new Set([tree]);
  }

  /**
   * Writes each blob as it comes from `cat-file --batch`, byte for byte: no filter, no line-ending conversion. Nothing
   * is made before the first blob has come.
   */
  async copy(stdout: AsyncIterable<Buffer>, entries: readonly TreeEntry[]): Promise<Outcome<'copied'>> {
    const writing = new Window(WRITES_AT_ONCE);
    try {
      return await this.#copyEach(new BatchReader(stdout), entries, writing);
    } finally {
      await writing.ended();
    }
  }

  async finish(empty: readonly string[]): Promise<Outcome<'copied'>> {
    if (this.#pointers.length > 0) return pointersRefused(this.#pointers);
    for (const path of empty) await this.#directory(join(this.#tree, path));
    for (const [path, target] of this.#links) if (!staysInside(this.#links, path)) return leaves(path, target);
    for (const [path, target] of this.#links) {
      await this.#directory(dirname(join(this.#tree, path)));
      await symlink(target, join(this.#tree, path));
    }
    return ok('copied');
  }

  async #copyEach(reader: BatchReader, entries: readonly TreeEntry[], writing: Window): Promise<Outcome<'copied'>> {
    for (const { id, mode, path } of entries) {
      const header = parseHeader(await reader.line());
      if (header === null || header.type !== 'blob' || header.id !== id) {
        return refused(refusal('source-unreachable', `The object cache has no blob ${id} for ${path}.`));
      }
      const { bytes } = header;
      const file = join(this.#tree, path);
      if (mode === '120000') {
        if (bytes > LINK_LIMIT_BYTES) return leaves(path, 'a target that is too long');
        const target = await reader.whole(bytes);
        if (bytes === 0 || !isUtf8(target) || target.includes(0)) return leaves(path, 'nothing that a link can hold');
        this.#links.set(path, target.toString('utf8'));
      } else {
        await this.#directory(dirname(file));
        if (bytes > WHOLE_LIMIT_BYTES) await writeBlob(file, mode, reader.bytes(bytes));
        else {
          const whole = await reader.whole(bytes);
          if (this.#lfsPointers === 'refuse' && bytes <= LFS_POINTER_LIMIT_BYTES && isLfsPointer(whole)) {
            this.#pointers.push(path);
          }
          await writing.begin(() => writeBlob(file, mode, [whole]));
        }
      }
      // The end of the line that a blob is followed by.
      await reader.skip(1);
    }
    return ok('copied');
  }

  async #directory(path: string): Promise<void> {
    if (this.#made.has(path)) return;
    await mkdir(path, { recursive: true, mode: 0o755 });
    this.#made.add(path);
  }
}

const leaves = (path: string, target: string): Outcome<never> =>
  refused(refusal('source-link-leaves-tree', `The link ${path} leads to ${target}, outside the tree.`));

function pointersRefused(paths: readonly string[]): Outcome<never> {
  const more = paths.length > NAMED_LIMIT ? ` and ${paths.length - NAMED_LIMIT} more` : '';
  const named = paths.slice(0, NAMED_LIMIT).join(', ');
  return refused(refusal('source-lfs-pointers', `The tree holds pointers in place of large files: ${named}${more}.`));
}

type Parts = AsyncIterable<Buffer> | Iterable<Buffer>;

async function writeBlob(path: string, mode: '100644' | '100755', bytes: Parts): Promise<void> {
  const file = await open(path, NEW_FILE, 0o600);
  try {
    for await (const part of bytes) await file.writeFile(part);
    await file.chmod(mode === '100755' ? 0o755 : 0o644);
  } finally {
    await file.close();
  }
}
