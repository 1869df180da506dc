import { constants } from 'node:fs';
import { mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { staysInside } from '@idunn/release';
import { BatchReader, parseHeader } from './batch.ts';
import type { TreeEntry } from './tree.ts';
import { Window } from './window.ts';

const LINK_LIMIT_BYTES = 4_096;
/** A blob up to this size is written while the next ones are read. */
const WHOLE_LIMIT_BYTES = 262_144;
const WRITES_AT_ONCE = 16;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** The order in which objects are asked for, and therefore answered: files first, then links. */
export const inCopyOrder = (entries: readonly TreeEntry[]): readonly TreeEntry[] => [
  ...entries.filter(({ mode }) => mode !== '120000'),
  ...entries.filter(({ mode }) => mode === '120000'),
];

/**
 * Writes each blob as it comes from `cat-file --batch`, byte for byte: no filter, no line-ending conversion. Links
 * are made last, so that no file is ever written through one, and only when all of them stay inside the tree.
 * Nothing is made before the first blob has come.
 */
export async function copyBlobs(
  stdout: AsyncIterable<Buffer>,
  ordered: readonly TreeEntry[],
  tree: string,
): Promise<Outcome<'copied'>> {
  const writing = new Window(WRITES_AT_ONCE);
  try {
    return await copyEach(new BatchReader(stdout), ordered, tree, writing);
  } finally {
    await writing.ended();
  }
}

async function copyEach(
  reader: BatchReader,
  ordered: readonly TreeEntry[],
  tree: string,
  writing: Window,
): Promise<Outcome<'copied'>> {
  const made = new Set<string>([tree]);
  const links = new Map<string, string>();
  for (const entry of ordered) {
    const header = parseHeader(await reader.line());
    if (header === null || header.type !== 'blob' || header.id !== entry.id) {
      return refused(refusal('source-unreachable', `The object cache has no blob ${entry.id} for ${entry.path}.`));
    }
    const { bytes } = header;
    const path = join(tree, entry.path);
    if (!made.has(dirname(path))) {
      await mkdir(dirname(path), { recursive: true, mode: 0o755 });
      made.add(dirname(path));
    }
    if (entry.mode === '120000') {
      if (bytes > LINK_LIMIT_BYTES) return leaves(entry.path, 'a target that is too long');
      links.set(entry.path, (await reader.whole(bytes)).toString('utf8'));
    } else if (bytes <= WHOLE_LIMIT_BYTES) {
      const whole = await reader.whole(bytes);
      const { mode } = entry;
      await writing.begin(() => writeBlob(path, mode, [whole]));
    } else {
      await writeBlob(path, entry.mode, reader.bytes(bytes));
    }
    // The end of the line that a blob is followed by.
    await reader.skip(1);
  }
  await writing.ended();
  for (const [path, target] of links) if (!staysInside(links, path)) return leaves(path, target);
  for (const [path, target] of links) await symlink(target, join(tree, path));
  return ok('copied');
}

const leaves = (path: string, target: string): Outcome<never> =>
  refused(refusal('source-link-leaves-tree', `The link ${path} leads to ${target}, outside the tree.`));

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
