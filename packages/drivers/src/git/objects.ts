import { type Outcome, refusal, refused } from '@idunn/kernel';
import { type BatchHeader, parseHeader } from './batch.ts';
import type { Git } from './process.ts';
import { type Gitlink, parseTree, type TreeEntry } from './tree.ts';

const LISTING_LIMIT_BYTES = 64 * 1_048_576;

export interface Repository {
  readonly git: Git;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** The objects that a plan rests on, each peeled to its kind and seen to exist; `null` for what is missing. */
export interface CommitObjects {
  readonly tip: BatchHeader | null;
  readonly commit: BatchHeader | null;
  readonly tree: BatchHeader | null;
  readonly minimum: BatchHeader | null;
  readonly recipe: BatchHeader | null;
}

export async function inspectCommit(
  { git, directory, signal }: Repository,
  asked: {
    readonly head: string;
    readonly wanted: string;
    readonly minimumRevision: string;
    readonly recipePath: string;
  },
): Promise<CommitObjects> {
  const { head, wanted, minimumRevision, recipePath } = asked;
  // One line each; ids are hexadecimal and the path holds no control character, so no line can become two.
  const names = [
    `${head}^{commit}`,
    `${wanted}^{commit}`,
    `${wanted}^{tree}`,
    `${minimumRevision}^{commit}`,
    `${wanted}:${recipePath}`,
  ];
  const input = names.map((name) => `${name}\n`);
  const { stdout } = await git.run({ directory, words: ['cat-file', '--batch-check'], input, signal }, 65_536);
  const [tip = null, commit = null, tree = null, minimum = null, recipe = null] = stdout
    .toString('utf8')
    .split('\n')
    .map(parseHeader);
  return { tip, commit, tree, minimum, recipe: recipe?.type === 'blob' ? recipe : null };
}

/** Proven by git's own walk; an answer that is neither yes nor no is no proof. */
export async function isAncestor(
  { git, directory, signal }: Repository,
  older: string,
  newer: string,
): Promise<boolean> {
  const words = ['merge-base', '--is-ancestor', older, newer];
  return (await git.run({ directory, words, signal }, 1_024)).exit === 0;
}

export async function listTree(
  { git, directory, signal }: Repository,
  tree: string,
): Promise<Outcome<{ readonly entries: readonly TreeEntry[]; readonly gitlinks: readonly Gitlink[] }>> {
  const words = ['ls-tree', '-r', '-l', '-z', '--full-tree', tree];
  const { exit, stdout, stderr } = await git.run({ directory, words, signal }, LISTING_LIMIT_BYTES);
  if (signal.aborted) return refused(refusal('work-aborted', `Reading the tree ${tree} was withdrawn.`));
  if (exit === 0) return parseTree(stdout);
  return refused(
    refusal('source-unreachable', `The object cache does not hold the tree ${tree}.`, { detail: { stderr } }),
  );
}
