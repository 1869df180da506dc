import { type Outcome, refusal, refused } from '@idunn/kernel';
import { type BatchHeader, BatchReader, parseHeader } from './batch.ts';
import type { Git } from './process.ts';
import { type Listing, parseTree } from './tree.ts';

const LISTING_LIMIT_BYTES = 64 * 1_048_576;

export interface Repository {
  readonly git: Git;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** A recipe larger than this is not read. */
export const RECIPE_LIMIT_BYTES = 262_144;

/** The objects that a plan rests on, each peeled to its kind and seen to exist; `null` for what is missing. */
export interface CommitObjects {
  readonly tip: BatchHeader | null;
  readonly commit: BatchHeader | null;
  readonly tree: BatchHeader | null;
  readonly minimum: BatchHeader | null;
  /** `content` is `null` when it is too large to be one. */
  readonly recipe: (BatchHeader & { readonly content: Buffer | null }) | null;
}

/** `tip` and `wanted` are full ids or refs. One process of git answers all of it, so all of it is of one moment. */
export async function inspectCommit(
  { git, directory, signal }: Repository,
  asked: {
    readonly tip: string;
    readonly wanted: string;
    readonly minimumRevision: string;
    readonly recipePath: string;
  },
): Promise<CommitObjects> {
  const { tip, wanted, minimumRevision, recipePath } = asked;
  // One line each; ids are hexadecimal and the path holds no control character, so no line can become two.
  const names = [`${tip}^{commit}`, `${wanted}^{commit}`, `${wanted}^{tree}`, `${minimumRevision}^{commit}`];
  const found: (BatchHeader | null)[] = [];
  let recipe: CommitObjects['recipe'] = null;
  const input = [...names, `${wanted}:${recipePath}`].map((name) => `${name}\n`);
  await git.stream({ directory, words: ['cat-file', '--batch'], input, signal }, async (stdout) => {
    const reader = new BatchReader(stdout);
    for (const _ of names) {
      const header = parseHeader(await reader.line());
      // The content is followed by the end of its line.
      if (header !== null) await reader.skip(header.bytes + 1);
      found.push(header);
    }
    const header = parseHeader(await reader.line());
    if (header?.type !== 'blob') return;
    recipe = { ...header, content: header.bytes > RECIPE_LIMIT_BYTES ? null : await reader.whole(header.bytes) };
  });
  const [head = null, commit = null, tree = null, minimum = null] = found;
  return { tip: head, commit, tree, minimum, recipe };
}

/**
 * Every commit is its own ancestor; everything else is proven by git's own walk. An answer that is neither yes nor no
 * is no proof.
 */
export async function isAncestor(
  { git, directory, signal }: Repository,
  older: string,
  newer: string,
): Promise<boolean> {
  if (older === newer) return true;
  const words = ['merge-base', '--is-ancestor', older, newer];
  return (await git.run({ directory, words, signal }, 1_024)).exit === 0;
}

export async function listTree({ git, directory, signal }: Repository, tree: string): Promise<Outcome<Listing>> {
  const words = ['ls-tree', '-r', '-l', '-z', '--full-tree', tree];
  const { exit, stdout, stderr } = await git.run({ directory, words, signal }, LISTING_LIMIT_BYTES);
  if (signal.aborted) return refused(refusal('work-aborted', `Reading the tree ${tree} was withdrawn.`));
  if (exit === 0) return parseTree(stdout);
  return refused(
    refusal('source-unreachable', `The object cache does not hold the tree ${tree}.`, { detail: { stderr } }),
  );
}
