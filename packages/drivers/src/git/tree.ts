import { isUtf8 } from 'node:buffer';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { foldedName, type ObjectFormat, unsafePath } from '@idunn/release';

const MODES = ['40000', '100644', '100755', '120000', '160000'] as const;
export type Mode = (typeof MODES)[number];

export interface TreeLine {
  readonly mode: Mode;
  readonly id: string;
  /** From the root of the whole tree. */
  readonly path: string;
}

/**
 * Reads the bytes of one tree object: `MODE SPACE NAME NUL ID`, again and again. Git's own readers forgive much: they
 * turn modes that do not exist into ones that do, and take names twice or out of order. Here the tree is what its bytes
 * say or it is refused, since nothing that is copied from a forgiven one could have its id. `base` is the directory's
 * own path, with a slash at its end unless it is the root.
 */
export function parseTree(
  bytes: Buffer,
  base: string,
  format: ObjectFormat,
  collidingNames: 'refuse' | 'keep',
): Outcome<readonly TreeLine[]> {
  const idBytes = format === 'sha1' ? 20 : 32;
  const where = base === '' ? 'The root directory' : `The directory ${JSON.stringify(base)}`;
  const malformed = (why: string): Outcome<never> =>
    refused(refusal('source-tree-malformed', `${where} of the tree ${why}.`));
  const lines: TreeLine[] = [];
  const folded = new Map<string, string>();
  const names = new Set<string>();
  let before: Buffer | null = null;
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space === -1 || end === -1 || end + 1 + idBytes > bytes.length)
      return malformed('ends in the middle of an entry');
    const mode = modeOf(bytes.toString('latin1', at, space));
    const raw = bytes.subarray(space + 1, end);
    const shown = JSON.stringify(raw.toString('utf8'));
    if (mode === null)
      return malformed(`gives ${shown} the mode ${bytes.toString('latin1', at, space)}, which is none`);
    if (raw.length === 0) return malformed('holds an entry without a name');
    if (raw.includes(0x2f)) return malformed(`holds the name ${shown}, which has a slash in it`);
    const name = raw.toString('utf8');
    const why = isUtf8(raw) ? unsafePath(base + name) : 'it is not valid UTF-8';
    if (why !== null) {
      return refused(
        refusal('source-path-unsafe', `The path ${JSON.stringify(base + name)} cannot be copied: ${why}.`),
      );
    }
    if (names.has(name)) return malformed(`holds the name ${shown} twice`);
    names.add(name);
    // Git's own order: a directory as if its name ended in a slash.
    const order = mode === '40000' ? Buffer.concat([raw, Buffer.from('/')]) : raw;
    if (before !== null && Buffer.compare(before, order) >= 0) return malformed(`holds the name ${shown} out of order`);
    before = order;
    if (collidingNames === 'refuse') {
      const other = folded.get(foldedName(name));
      if (other !== undefined) return collide(base, other, name);
      folded.set(foldedName(name), name);
    }
    lines.push({ mode, id: bytes.toString('hex', end + 1, end + 1 + idBytes), path: base + name });
    at = end + 1 + idBytes;
  }
  return ok(lines);
}

const modeOf = (text: string): Mode | null => MODES.find((mode) => mode === text) ?? null;

/** Names that differ only in what cannot be seen are shown by their code points. */
function collide(base: string, first: string, second: string): Outcome<never> {
  const shown = (name: string): string => JSON.stringify(base + name).replace(/[^\x20-\x7e]/gu, escaped);
  const reason = `${shown(first)} and ${shown(second)} are one file where names have no case or are composed.`;
  return refused(refusal('source-names-collide', reason));
}

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
