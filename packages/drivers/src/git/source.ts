import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, digestBytes, type Outcome, ok, refusal, refused } from '@idunn/kernel';
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
import { inspectCommit, isAncestor, listTree, RECIPE_LIMIT_BYTES, type Repository } from './objects.ts';
import { Git, GitOutputTooLarge } from './process.ts';
import type { Listing } from './tree.ts';

const REFS_LIMIT_BYTES = 1_048_576;
/** A listing of more entries is not kept in memory from plan to stage. */
const KEPT_ENTRIES_LIMIT = 10_000;
/** Where the admitted ref is kept in the object cache. */
const HEAD = 'refs/idunn/head';

export interface GitSourceOptions {
  /** The git program, absolute. */
  readonly git: string;
  /** One bare object cache for each target: `<cache>/<target>.git`. */
  readonly cache: string;
  /** The authority's stage directory. */
  readonly stages: string;
  readonly clock: Clock;
  /** A PEM file of certificates that https origins are trusted by in place of the system's. */
  readonly certificates?: string;
}

/** A git repository as a source, read by plumbing alone: no work tree, no checkout, no filters. */
export function createGitSource(options: GitSourceOptions): SourcePort {
  const { cache, stages, clock } = options;
  const git = new Git(options.git, options.certificates ?? null);
  /** What was listed to plan is not listed again to stage: a tree never changes under its id. */
  let lastListing: { readonly tree: string; readonly listing: Listing } | null = null;
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

  /** Brings the ref's history into the cache; nothing is transferred when it is there already. */
  async function fetchHead(target: string, { origin, ref }: Origin, signal: AbortSignal): Promise<Outcome<'fetched'>> {
    const directory = directoryOf(target);
    const words = [
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
    const fetch = () => git.run({ directory, transport: transportOf(origin), words, signal }, REFS_LIMIT_BYTES);
    // An origin that was read before is asked once: what a fetch asks for first is the ref (F1).
    if (existsSync(directory) && (await fetch()).exit === 0) return ok('fetched');
    // Before the first fetch, and whenever one failed, the origin's own word says how it stands.
    const head = await remoteHead({ origin, ref }, signal);
    if (!head.ok) return head;
    await mkdir(cache, { recursive: true, mode: 0o700 });
    const format = head.value.length === 64 ? 'sha256' : 'sha1';
    const init = [
      'init',
      '--bare',
      '--quiet',
      '--template=',
      `--object-format=${format}`,
      '--end-of-options',
      directory,
    ];
    const made = await git.run({ directory: null, words: init, signal }, 256);
    if (made.exit !== 0) return unreachable(origin, made.stderr, signal);
    const fetched = await fetch();
    return fetched.exit === 0 ? ok('fetched') : unreachable(origin, fetched.stderr, signal);
  }

  async function resolve(request: SourceRequest, signal: AbortSignal): Promise<Outcome<ResolvedSource>> {
    const { target, origin, ref, selection, minimumRevision, recipePath } = request;
    const askedMs = clock.monotonicMs();
    const fetched = await fetchHead(target, request, signal);
    if (!fetched.ok) return fetched;
    const fetchMs = transportOf(origin) === 'file' ? 0 : clock.monotonicMs() - askedMs;
    const repository = { git, directory: directoryOf(target), signal };
    const wanted = request.commit ?? HEAD;
    const { tip, commit, tree, minimum, recipe } = await inspectCommit(repository, {
      tip: HEAD,
      wanted,
      minimumRevision,
      recipePath,
    });
    if (signal.aborted) return withdrawn(origin);
    const missing = refusal(
      'source-commit-missing',
      `${ref} of ${origin} does not contain the commit ${request.commit ?? ref}.`,
    );
    if (tip === null || commit === null || tree === null) return refused(missing);
    const [contained, descends, listed] = await Promise.all([
      isAncestor(repository, commit.id, tip.id),
      minimum?.id === minimumRevision && isAncestor(repository, minimum.id, commit.id),
      listTree(repository, tree.id),
    ]);
    if (signal.aborted) return withdrawn(origin);
    if (!contained) return refused(missing);
    if (!descends) {
      const reason = `The commit ${commit.id} of ${ref} does not descend from the minimum revision ${minimumRevision}.`;
      return refused(refusal('minimum-revision-unproven', reason));
    }
    if (!listed.ok) return listed;
    const file = listed.value.entries.find(({ path }) => path === recipePath);
    if (recipe === null || file === undefined || file.mode === '120000' || file.id !== recipe.id) {
      return refused(refusal('recipe-missing', `The commit ${commit.id} has no file ${recipePath}.`));
    }
    if (recipe.content === null) {
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
    lastListing = listed.value.entries.length > KEPT_ENTRIES_LIMIT ? null : { tree: tree.id, listing: listed.value };
    const facts: SourceFacts = {
      origin,
      ref,
      selection,
      objectFormat: commit.id.length === 64 ? 'sha256' : 'sha1',
      commit: commit.id,
      tree: tree.id,
      recipePath,
      recipeBlob: recipe.id,
      recipeDigest: digestBytes(recipe.content),
      gitlinks: [],
      minimumRevision,
    };
    return ok({ facts, recipe: recipe.content.toString('base64'), fetchMs });
  }

  /** Copies a tree out of the cache; refused with `source-unreachable` when the cache does not hold all of it. */
  async function copyTree(repository: Repository, { origin, tree: id }: SourceFacts, tree: string) {
    const known = lastListing?.tree === id ? ok(lastListing.listing) : await listTree(repository, id);
    if (!known.ok) return known;
    const ordered = inCopyOrder(known.value.entries);
    let copied: Outcome<'copied'> = withdrawn(origin);
    const input = ordered.map((entry) => `${entry.id}\n`);
    const { directory, signal } = repository;
    const { exit, stderr } = await git.stream(
      { directory, words: ['cat-file', '--batch'], input, signal },
      async (stdout) => {
        copied = await copyBlobs(stdout, ordered, tree);
      },
    );
    if (signal.aborted) return withdrawn(origin);
    return copied.ok && exit !== 0 ? unreachable(origin, stderr, signal) : copied;
  }

  async function stage(target: string, facts: SourceFacts, stageName: string, signal: AbortSignal) {
    const repository = { git, directory: directoryOf(target), signal };
    const { tree } = stagePaths(stages, stageName);
    const copy = () => asOutcome(facts.origin, () => copyTree(repository, facts, tree));
    let copied = await copy();
    if (!copied.ok && copied.refusal.code === 'source-unreachable' && (await readdir(tree)).length === 0) {
      // The cache can be thrown away at any time; what the plan froze is fetched again.
      lastListing = null;
      const fetched = await fetchHead(target, facts, signal);
      if (!fetched.ok) return fetched;
      copied = await copy();
    }
    lastListing = null;
    if (!copied.ok) return copied;
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
