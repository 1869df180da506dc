import { type ObjectFormat, objectId } from '@idunn/release';
import { type BatchHeader, BatchReader, parseHeader } from './batch.ts';
import { Feed } from './feed.ts';
import type { Git } from './process.ts';

export interface Repository {
  readonly git: Git;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** A recipe larger than this is not read. */
export const RECIPE_LIMIT_BYTES = 262_144;
/** A commit whose words are longer than this is not read. */
const COMMIT_LIMIT_BYTES = 1_048_576;

export const formatOf = (id: string): ObjectFormat => (id.length === 64 ? 'sha256' : 'sha1');

/** The objects that a plan rests on, each peeled to its kind and seen to exist; `null` for what is missing. */
export interface CommitObjects {
  /** The commit that the ref named at one moment; everything else was asked for by object id. */
  readonly tip: string | null;
  /** `tree` is `null` when the commit's bytes are not those of a proper commit with this id. */
  readonly commit: { readonly id: string; readonly tree: string | null; readonly parents: readonly string[] } | null;
  readonly minimum: string | null;
  /** `content` is `null` when it is too large to be one. */
  readonly recipe: { readonly id: string; readonly content: Buffer | null } | null;
}

/** A git that answers with objects, in the order in which they are asked for. */
export interface Contents {
  readonly reader: BatchReader;
  readonly asked: Feed;
}

/**
 * `head` is the cache's ref, `commit` a full id or `null` for the ref's own; what is `null` is not asked. Once the
 * commit is known to be a proper one, `further` goes on with the git that answered.
 */
export async function inspectCommit<T = null>(
  { git, directory, signal }: Repository,
  asked: {
    readonly head: string;
    readonly commit: string | null;
    readonly minimumRevision: string | null;
    readonly recipePath: string | null;
  },
  further?: (found: CommitObjects, tree: string, contents: Contents) => Promise<T>,
): Promise<CommitObjects & { readonly further: T | null }> {
  const feed = new Feed();
  let found: CommitObjects = { tip: null, commit: null, minimum: null, recipe: null };
  let answer: T | null = null;
  await git.stream({ directory, words: ['cat-file', '--batch'], input: feed, signal }, async (stdout) => {
    const reader = new BatchReader(stdout);
    // One line each: ids are hexadecimal and the path holds no control character, so no line can become two.
    const ask = (name: string, limitBytes = COMMIT_LIMIT_BYTES): Promise<Answer | null> => {
      feed.add(name);
      return answerOf(reader, limitBytes);
    };
    try {
      const tip = await ask(`${asked.head}^{commit}`);
      if (tip === null) return;
      found = { ...found, tip: tip.id };
      const commit = asked.commit === null || asked.commit === tip.id ? tip : await ask(`${asked.commit}^{commit}`);
      if (commit === null) return;
      const { tree, parents } = wordsOf(commit);
      const minimum = asked.minimumRevision === null ? null : await ask(`${asked.minimumRevision}^{commit}`);
      found = { ...found, commit: { id: commit.id, tree, parents }, minimum: minimum?.id ?? null };
      if (tree === null) return;
      if (asked.recipePath !== null) {
        const recipe = await ask(`${tree}:${asked.recipePath}`, RECIPE_LIMIT_BYTES);
        if (recipe?.type === 'blob') found = { ...found, recipe };
      }
      answer = (await further?.(found, tree, { reader, asked: feed })) ?? null;
    } finally {
      feed.end();
    }
  });
  return { ...found, further: answer };
}

interface Answer extends BatchHeader {
  /** `null` when it is over the limit. */
  readonly content: Buffer | null;
}

async function answerOf(reader: BatchReader, limitBytes: number): Promise<Answer | null> {
  const header = parseHeader(await reader.line());
  if (header === null) return null;
  const content = header.bytes > limitBytes ? null : await reader.whole(header.bytes);
  // The content is followed by the end of its line.
  await reader.skip(content === null ? header.bytes + 1 : 1);
  return { ...header, content };
}

const COMMIT = /^tree ([0-9a-f]+)\n(?:parent [0-9a-f]+\n)*author [^\n]+\ncommitter [^\n]+\n/;

/** What a commit's own bytes say, when they are what its id says and a commit that git would write. */
function wordsOf({ id, content }: Answer): { readonly tree: string | null; readonly parents: readonly string[] } {
  const none = { tree: null, parents: [] };
  if (content === null || objectId(formatOf(id), 'commit', content).toString('hex') !== id) return none;
  const [words = '', tree] = COMMIT.exec(content.toString('latin1')) ?? [];
  if (tree?.length !== id.length) return none;
  return { tree, parents: [...words.matchAll(/^parent (.+)$/gm)].map(([, parent]) => parent as string) };
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
