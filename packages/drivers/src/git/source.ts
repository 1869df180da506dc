import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { digestBytes, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import {
  type ResolvedSource,
  type SourceFacts,
  type SourcePort,
  type SourceRequest,
  stagePaths,
  treeIdOf,
  verifiedTreeDigest,
} from '@idunn/release';
import { EndedEarly } from './batch.ts';
import { copyBlobs, inCopyOrder } from './checkout.ts';
import { transportOf } from './command.ts';
import { inspectCommit, isAncestor, listTree } from './objects.ts';
import { Git, GitOutputTooLarge } from './process.ts';

const REFS_LIMIT_BYTES = 1_048_576;
const RECIPE_LIMIT_BYTES = 262_144;
/** Where the admitted ref is kept in the object cache. */
const HEAD = 'refs/idunn/head';

export interface GitSourceOptions {
  /** The git program, absolute. */
  readonly git: string;
  /** One bare object cache for each target: `<cache>/<target>.git`. */
  readonly cache: string;
  /** The authority's stage directory. */
  readonly stages: string;
  /** A PEM file of certificates that https origins are trusted by in place of the system's. */
  readonly certificates?: string;
}

/** A git repository as a source, read by plumbing alone: no work tree, no checkout, no filters. */
export function createGitSource({ git: program, cache, stages, certificates }: GitSourceOptions): SourcePort {
  const git = new Git(program, certificates ?? null);
  const directoryOf = (target: string): string => join(cache, `${target}.git`);

  /** What the origin says the ref is; asked before anything is fetched (F1). */
  async function remoteHead({ origin, ref }: Origin, signal: AbortSignal): Promise<Outcome<string>> {
    const words = ['ls-remote', '--quiet', '--end-of-options', origin, ref];
    const call = { directory: null, transport: transportOf(origin), words, signal };
    const { exit, stdout, stderr } = await git.run(call, REFS_LIMIT_BYTES);
    if (exit !== 0) return unreachable(origin, stderr, signal);
    for (const line of stdout.toString('utf8').split('\n')) {
      const [id, name] = line.split('\t');
      if (name === ref && id !== undefined) return ok(id);
    }
    return refused(refusal('source-ref-missing', `${origin} has no ${ref}.`));
  }

  /**
   * Brings the ref's history into the cache; nothing is transferred when it is there already. Answers the ref's commit.
   */
  async function fetchHead(target: string, { origin, ref }: Origin, signal: AbortSignal): Promise<Outcome<string>> {
    const head = await remoteHead({ origin, ref }, signal);
    if (!head.ok) return head;
    const directory = directoryOf(target);
    const known = await git.run(
      { directory, words: ['rev-parse', '--verify', '--quiet', '--end-of-options', HEAD], signal },
      256,
    );
    if (known.exit === 0 && known.stdout.toString('latin1').trim() === head.value) return head;
    await mkdir(cache, { recursive: true, mode: 0o700 });
    const format = head.value.length === 64 ? 'sha256' : 'sha1';
    const words = [
      'init',
      '--bare',
      '--quiet',
      '--template=',
      `--object-format=${format}`,
      '--end-of-options',
      directory,
    ];
    const made = await git.run({ directory: null, words, signal }, 256);
    if (made.exit !== 0) return unreachable(origin, made.stderr, signal);
    const fetch = [
      'fetch',
      '--quiet',
      '--force',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-recurse-submodules',
      '--no-auto-maintenance',
      '--end-of-options',
      origin,
      `+${ref}:${HEAD}`,
    ];
    const fetched = await git.run(
      { directory, transport: transportOf(origin), words: fetch, signal },
      REFS_LIMIT_BYTES,
    );
    if (fetched.exit !== 0) return unreachable(origin, fetched.stderr, signal);
    const now = await git.run({ directory, words: ['rev-parse', '--verify', '--end-of-options', HEAD], signal }, 256);
    return now.exit === 0 ? ok(now.stdout.toString('latin1').trim()) : unreachable(origin, now.stderr, signal);
  }

  async function resolve(request: SourceRequest, signal: AbortSignal): Promise<Outcome<ResolvedSource>> {
    const { target, origin, ref, selection, minimumRevision, recipePath } = request;
    const head = await fetchHead(target, request, signal);
    if (!head.ok) return head;
    const repository = { git, directory: directoryOf(target), signal };
    const wanted = request.commit ?? head.value;
    const found = await inspectCommit(repository, { head: head.value, wanted, minimumRevision, recipePath });
    if (signal.aborted) return withdrawn(origin);
    const { tip, commit, tree, minimum, recipe } = found;
    if (commit === null || tip === null || tree === null || !(await isAncestor(repository, commit.id, tip.id))) {
      return signal.aborted
        ? withdrawn(origin)
        : refused(refusal('source-commit-missing', `${ref} of ${origin} does not contain the commit ${wanted}.`));
    }
    if (minimum === null || minimum.id !== minimumRevision || !(await isAncestor(repository, minimum.id, commit.id))) {
      if (signal.aborted) return withdrawn(origin);
      const reason = `The commit ${commit.id} of ${ref} does not descend from the minimum revision ${minimumRevision}.`;
      return refused(refusal('minimum-revision-unproven', reason));
    }
    const listed = await listTree(repository, tree.id);
    if (!listed.ok) return listed;
    const file = listed.value.entries.find(({ path }) => path === recipePath);
    if (recipe === null || file === undefined || file.mode === '120000' || file.id !== recipe.id) {
      return refused(refusal('recipe-missing', `The commit ${commit.id} has no file ${recipePath}.`));
    }
    if (recipe.bytes > RECIPE_LIMIT_BYTES) {
      return refused(
        refusal('recipe-too-large', `${recipePath} of ${commit.id} is larger than ${RECIPE_LIMIT_BYTES} bytes.`),
      );
    }
    const [gitlink] = listed.value.gitlinks;
    if (gitlink !== undefined) {
      return refused(
        refusal(
          'submodules-unsupported',
          `The commit ${commit.id} holds the submodule ${gitlink.path} at ${gitlink.commit}.`,
        ),
      );
    }
    const words = ['cat-file', 'blob', recipe.id];
    const blob = await git.run({ directory: repository.directory, words, signal }, RECIPE_LIMIT_BYTES);
    if (blob.exit !== 0) return unreachable(origin, blob.stderr, signal);
    const facts: SourceFacts = {
      origin,
      ref,
      selection,
      objectFormat: commit.id.length === 64 ? 'sha256' : 'sha1',
      commit: commit.id,
      tree: tree.id,
      recipePath,
      recipeBlob: recipe.id,
      recipeDigest: digestBytes(blob.stdout),
      gitlinks: [],
      minimumRevision,
    };
    return ok({ facts, recipe: blob.stdout.toString('base64') });
  }

  async function stage(target: string, facts: SourceFacts, stageName: string, signal: AbortSignal) {
    const repository = { git, directory: directoryOf(target), signal };
    let listed = await listTree(repository, facts.tree);
    if (!listed.ok && listed.refusal.code === 'source-unreachable' && !signal.aborted) {
      // The cache can be thrown away at any time; what the plan froze is fetched again.
      const head = await fetchHead(target, facts, signal);
      if (!head.ok) return head;
      listed = await listTree(repository, facts.tree);
    }
    if (!listed.ok) return listed;
    const { tree } = stagePaths(stages, stageName);
    const ordered = inCopyOrder(listed.value.entries);
    let copied: Outcome<'copied'> = withdrawn(facts.origin);
    const input = ordered.map(({ id }) => `${id}\n`);
    const { exit, stderr } = await git.stream(
      { directory: repository.directory, words: ['cat-file', '--batch'], input, signal },
      async (stdout) => {
        copied = await copyBlobs(stdout, ordered, tree);
      },
    );
    if (signal.aborted) return withdrawn(facts.origin);
    if (!copied.ok) return copied;
    if (exit !== 0) return unreachable(facts.origin, stderr, signal);
    // I2: what counts is what is on disk, not what was meant to be written.
    const onDisk = await treeIdOf(tree, facts.objectFormat);
    if (onDisk === facts.tree) return ok(verifiedTreeDigest(facts));
    return refused(
      refusal('stage-mismatch', `The staged copy of ${facts.commit} has the tree ${onDisk}, the plan ${facts.tree}.`),
    );
  }

  return {
    resolve: (request, signal) => asOutcome(request.origin, () => resolve(request, signal)),
    stage: (target, facts, stageName, signal) => asOutcome(facts.origin, () => stage(target, facts, stageName, signal)),
  };
}

interface Origin {
  readonly origin: string;
  readonly ref: string;
}

/** What git itself cannot deliver is a refusal; everything else that is thrown goes on. */
async function asOutcome<T>(origin: string, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitOutputTooLarge) return refused(refusal('source-too-large', `${origin}: ${error.message}.`));
    if (error instanceof EndedEarly) return refused(refusal('source-unreachable', `${origin}: ${error.message}.`));
    throw error;
  }
}

const withdrawn = (origin: string): Outcome<never> =>
  refused(refusal('work-aborted', `Reading ${origin} was withdrawn.`));

function unreachable(origin: string, stderr: string, signal: AbortSignal): Outcome<never> {
  if (signal.aborted) return withdrawn(origin);
  const [first = 'git gave no reason'] = stderr.split('\n');
  return refused(refusal('source-unreachable', `${origin} could not be read: ${first}`, { detail: { stderr } }));
}
