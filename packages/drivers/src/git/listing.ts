import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { type ObjectFormat, objectId } from '@idunn/release';
import { BatchReader, parseHeader } from './batch.ts';
import { Feed } from './feed.ts';
import type { Contents, Repository } from './objects.ts';
import { parseTree } from './tree.ts';

export const ENTRIES_LIMIT = 200_000;
export const TREE_LIMIT_BYTES = 8 * 1_024 ** 3;
/** All paths of a tree together, which are held in memory. */
const PATHS_LIMIT_BYTES = 64 * 1_048_576;
/** One directory; 200,000 entries with names of an average length fit. */
const TREE_OBJECT_LIMIT_BYTES = 32 * 1_048_576;

/** One file or link of a tree. */
export interface TreeEntry {
  readonly mode: '100644' | '100755' | '120000';
  readonly id: string;
  readonly path: string;
}

/** A submodule as the tree records it. */
export interface RecordedLink {
  readonly path: string;
  readonly commit: string;
}

/** All that a tree holds, a directory before what is in it. */
export interface Listing {
  readonly entries: readonly TreeEntry[];
  readonly gitlinks: readonly RecordedLink[];
  /** Directories with nothing in them, which nobody writes and a tree can record. */
  readonly empty: readonly string[];
}

export interface ListedTree {
  readonly id: string;
  readonly format: ObjectFormat;
  /** Where it lies in the whole tree: empty for the root, `vendor/lib/` for a submodule. */
  readonly base: string;
}

/**
 * Everything below a tree, from the bytes of its objects, each held against its id. One git answers with directories,
 * that of the caller where there is one, while another tells the sizes of the files in them. Refused as a whole when
 * anything could not be copied exactly.
 */
export async function listTree(
  { git, directory, signal }: Repository,
  tree: ListedTree,
  collidingNames: 'refuse' | 'keep',
  contents: Contents | null = null,
): Promise<Outcome<Listing>> {
  const blobs = new Feed();
  let walked: Outcome<Listing> = refused(refusal('work-aborted', `Reading the tree ${tree.id} was withdrawn.`));
  const walk = async (from: Contents): Promise<void> => {
    try {
      walked = await walkTrees(from.reader, tree, collidingNames, { trees: from.asked, blobs });
    } finally {
      blobs.end();
    }
  };
  const own = async (): Promise<void> => {
    const asked = new Feed();
    const call = { directory, words: ['cat-file', '--batch'], input: asked, signal };
    await git.stream(call, async (stdout) => {
      try {
        await walk({ reader: new BatchReader(stdout), asked });
      } finally {
        asked.end();
      }
    });
  };
  const sizes = { directory, words: ['cat-file', '--batch-check', '--buffer'], input: blobs, signal };
  let measured: Outcome<'measured'> = ok('measured');
  const measuring = git.stream(sizes, async (stdout) => {
    measured = await measure(new BatchReader(stdout));
  });
  const ends = await Promise.allSettled([contents === null ? own() : walk(contents), measuring]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  if (signal.aborted) return refused(refusal('work-aborted', `Reading the tree ${tree.id} was withdrawn.`));
  return walked.ok && !measured.ok ? measured : walked;
}

async function walkTrees(
  reader: BatchReader,
  root: ListedTree,
  collidingNames: 'refuse' | 'keep',
  asked: { readonly trees: Feed; readonly blobs: Feed },
): Promise<Outcome<Listing>> {
  const entries: TreeEntry[] = [];
  const gitlinks: RecordedLink[] = [];
  const empty: string[] = [];
  const directories = [{ id: root.id, base: root.base }];
  let count = 0;
  let bytes = 0;
  asked.trees.add(root.id);
  // The list grows while it is walked.
  for (const { id, base } of directories) {
    const content = await treeContent(reader, id, root.format);
    if (!content.ok) return content;
    const lines = parseTree(content.value, base, root.format, collidingNames);
    if (!lines.ok) return lines;
    if (lines.value.length === 0 && base !== '') empty.push(base.slice(0, -1));
    for (const { mode, id: object, path } of lines.value) {
      count += 1;
      bytes += path.length;
      if (count > ENTRIES_LIMIT) return tooLarge(`more than ${ENTRIES_LIMIT} files and directories`);
      if (bytes > PATHS_LIMIT_BYTES) return tooLarge(`more than ${PATHS_LIMIT_BYTES} bytes of paths`);
      if (mode === '160000') gitlinks.push({ path, commit: object });
      else if (mode === '40000') {
        directories.push({ id: object, base: `${path}/` });
        asked.trees.add(object);
      } else {
        entries.push({ mode, id: object, path });
        asked.blobs.add(object);
      }
    }
  }
  return ok({ entries, gitlinks, empty });
}

async function treeContent(reader: BatchReader, id: string, format: ObjectFormat): Promise<Outcome<Buffer>> {
  const header = parseHeader(await reader.line());
  if (header?.type !== 'tree' || header.id !== id) {
    return refused(refusal('source-unreachable', `The object cache does not hold the tree ${id}.`));
  }
  if (header.bytes > TREE_OBJECT_LIMIT_BYTES) return tooLarge(`a directory of ${header.bytes} bytes`);
  const content = await reader.whole(header.bytes);
  await reader.skip(1);
  // I2: whoever keeps the objects, what counts is what their ids say.
  if (objectId(format, 'tree', content).toString('hex') === id) return ok(content);
  return refused(refusal('source-object-altered', `The object cache gave other bytes for the tree ${id}.`));
}

/** Reads the sizes of all files; the answers end when the question does. */
async function measure(reader: BatchReader): Promise<Outcome<'measured'>> {
  let total = 0;
  for (;;) {
    const line = await reader.lineOrEnd();
    if (line === null) return ok('measured');
    const header = parseHeader(line);
    if (header?.type !== 'blob') {
      return refused(refusal('source-unreachable', `The object cache answers for a file of the tree: ${line}.`));
    }
    total += header.bytes;
    if (total > TREE_LIMIT_BYTES) return tooLarge(`more than ${TREE_LIMIT_BYTES} bytes`);
  }
}

const tooLarge = (what: string): Outcome<never> => refused(refusal('source-too-large', `The tree holds ${what}.`));
