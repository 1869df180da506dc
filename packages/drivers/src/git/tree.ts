import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { unsafePath } from '@idunn/release';

export const ENTRIES_LIMIT = 200_000;
export const TREE_LIMIT_BYTES = 8 * 1_024 ** 3;

/** One file or link of a tree. */
export interface TreeEntry {
  readonly mode: '100644' | '100755' | '120000';
  readonly id: string;
  readonly bytes: number;
  readonly path: string;
}

export interface Gitlink {
  readonly path: string;
  readonly commit: string;
}

/** All that a tree holds, in its own order. */
export interface Listing {
  readonly entries: readonly TreeEntry[];
  readonly gitlinks: readonly Gitlink[];
}

/**
 * Reads `ls-tree -r -l -z --full-tree`: `MODE TYPE ID SIZE TAB PATH NUL`. Refused as a whole when a single path could
 * not be written below a stage.
 */
export function parseTree(output: Buffer): Outcome<Listing> {
  const entries: TreeEntry[] = [];
  const gitlinks: Gitlink[] = [];
  let total = 0;
  for (const record of records(output)) {
    const tab = record.indexOf(0x09);
    const [mode = '', , id = '', size = ''] = record.subarray(0, tab).toString('latin1').split(/ +/);
    const path = record.subarray(tab + 1).toString('utf8');
    const why = unsafePath(path);
    if (why !== null)
      return refused(refusal('source-path-unsafe', `The path ${JSON.stringify(path)} cannot be copied: ${why}.`));
    switch (mode) {
      case '160000':
        gitlinks.push({ path, commit: id });
        break;
      case '100644':
      case '100755':
      case '120000':
        total += Number(size);
        entries.push({ mode, id, bytes: Number(size), path });
        break;
      default:
        return refused(refusal('source-path-unsafe', `The path ${path} has the mode ${mode}, which is not copied.`));
    }
    if (entries.length > ENTRIES_LIMIT)
      return refused(refusal('source-too-large', `The tree holds more than ${ENTRIES_LIMIT} files.`));
    if (total > TREE_LIMIT_BYTES)
      return refused(refusal('source-too-large', `The tree holds more than ${TREE_LIMIT_BYTES} bytes.`));
  }
  return ok({ entries, gitlinks });
}

function* records(output: Buffer): Generator<Buffer> {
  let from = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, from)) {
    yield output.subarray(from, end);
    from = end + 1;
  }
}
