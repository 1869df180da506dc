import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, digestBytes, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import {
  type Gitlink,
  type ResolvedSource,
  type SourceFacts,
  type SourcePort,
  type SourceRequest,
  stagePaths,
  treeIdOf,
  verifiedTreeDigest,
} from '@idunn/release';
import { EndedEarly } from './batch.ts';
import { cacheFor, gitThatReaches } from './cache.ts';
import { Checkout } from './checkout.ts';
import { transportOf } from './command.ts';
import { Descent } from './descent.ts';
import { ENTRIES_LIMIT, type Listing, listTree } from './listing.ts';
import { formatOf, inspectCommit, isAncestor, RECIPE_LIMIT_BYTES, type Repository } from './objects.ts';
import { fetchHead, HEAD, type Origin, readable, unreachable, withdrawn } from './origin.ts';
import { type Git, GitOutputTooLarge } from './process.ts';
import { type Reader, type Reading, readerFor } from './reader.ts';
import { resolveSubmodules } from './submodules.ts';

/** A listing of more entries is not kept in memory from plan to stage. */
const KEPT_ENTRIES_LIMIT = 10_000;

export interface GitSourceOptions {
  /** The git program, absolute. */
  readonly git: string;
  /**
   * Bare object caches: `<cache>/<target>.git`, and below `<cache>/<target>.modules` those of its submodules; in a
   * directory of its own for a reader that is not the daemon's user. Its parent is the daemon's too.
   */
  readonly cache: string;
  /** Who reads, asked at each use; by default the daemon's own user. */
  readonly reading?: () => Reading;
  /** The authority's stage directory. */
  readonly stages: string;
  readonly clock: Clock;
  /** Absolute path of `bwrap`, which opens the way to what is root's own; `null` where it is not installed. */
  readonly bubblewrap?: string | null;
  /** A PEM file of certificates that https origins are trusted by in place of the system's. */
  readonly certificates?: string;
}

export interface GitSource extends SourcePort {
  /** Who reads now, seen to get to the object caches. */
  reader(signal: AbortSignal): Promise<Outcome<Reader>>;
  /** Whether a local origin can be read now; nothing is fetched, and the network is not asked. */
  readable(origin: string, signal: AbortSignal): Promise<Outcome<'readable'>>;
}

/** A repository of a plan, where it lies in the whole tree, and which tree of it is meant. */
interface Part extends Origin {
  readonly directory: string;
  readonly base: string;
  readonly tree: string;
}

/** A git repository as a source, read by plumbing alone: no work tree, no checkout, no filters. */
export function createGitSource(options: GitSourceOptions): GitSource {
  const { stages, clock, certificates = null, bubblewrap = null, reading = ownReading } = options;
  /** What was listed to plan is not listed again to stage: a tree never changes under its id. */
  let lastListings: { readonly tree: string; readonly listings: readonly Listing[] } | null = null;

  const descent = new Descent();
  let last: { readonly asked: string; readonly trusting: string; readonly opened: Opened } | null = null;

  /** A git as the fleet wants repositories to be read now, and where its object caches are. */
  async function open(signal: AbortSignal): Promise<Outcome<Opened>> {
    const asked = JSON.stringify(reading());
    // The caches can be thrown away at any time, and the way to them with them.
    if (last?.asked === asked && existsSync(last.trusting)) return ok(last.opened);
    const reader = await readerFor(reading());
    if (!reader.ok) return reader;
    const { directory, trusting } = await cacheFor(options.cache, reader.value.account);
    const program = { program: options.git, certificates, reader: reader.value, bubblewrap, trusting };
    const reached = await gitThatReaches(directory, program, signal);
    if (!reached.ok) return reached;
    const git = reached.value;
    const directoryOf = (target: string, submodule: string | null = null): string =>
      submodule === null
        ? join(directory, `${target}.git`)
        : join(directory, `${target}.modules`, `${digestBytes(submodule).slice('sha256:'.length)}.git`);
    const now = { git, directoryOf };
    // What nobody waited for proves nothing.
    if (!signal.aborted) last = { asked, trusting, opened: now };
    return ok(now);
  }

  async function resolve(
    { git, directoryOf }: Opened,
    request: SourceRequest,
    signal: AbortSignal,
  ): Promise<Outcome<ResolvedSource>> {
    const { target, origin, ref, selection, minimumRevision, recipePath, collidingNames, lfsPointers } = request;
    let fetchMs = 0;
    const fetch = async (directory: string, from: Origin): Promise<Outcome<'fetched'>> => {
      const askedMs = clock.monotonicMs();
      const fetched = await fetchHead(git, directory, from, signal);
      if (transportOf(from.origin) !== 'file') fetchMs += clock.monotonicMs() - askedMs;
      return fetched;
    };
    const fetched = await fetch(directoryOf(target), request);
    if (!fetched.ok) return fetched;
    const repository = { git, directory: directoryOf(target), signal };
    const asked = { head: HEAD, commit: request.commit, minimumRevision, recipePath };
    const { tip, commit, recipe, further } = await inspectCommit(repository, asked, (found, tree, contents) =>
      Promise.all([
        found.commit !== null && found.tip !== null && isAncestor(repository, found.commit.id, found.tip),
        descent.proves(repository, minimumRevision, found),
        listTree(repository, { id: tree, format: formatOf(tree), base: '' }, collidingNames, contents),
      ]),
    );
    if (signal.aborted) return withdrawn(origin);
    if (tip === null) return refused(refusal('source-commit-missing', `${ref} of ${origin} leads to no commit.`));
    const missing = `${ref} of ${origin} does not contain the commit ${request.commit ?? ref}.`;
    if (commit === null) return refused(refusal('source-commit-missing', missing));
    if (commit.tree === null || further === null) return malformed(commit.id);
    const format = formatOf(commit.id);
    const [contained, descends, listed] = further;
    if (!contained) return refused(refusal('source-commit-missing', missing));
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
      const reason = `${recipePath} of ${commit.id} is larger than ${RECIPE_LIMIT_BYTES} bytes.`;
      return refused(refusal('recipe-too-large', reason));
    }
    const submodules = await resolveSubmodules(listed.value, {
      admitted: request.submodules,
      fetch: (path, from) => fetch(directoryOf(target, path), from),
      repositoryOf: (path) => ({ git, directory: directoryOf(target, path), signal }),
      collidingNames,
    });
    if (signal.aborted) return withdrawn(origin);
    if (!submodules.ok) return submodules;
    const listings = [listed.value, ...submodules.value.listings];
    const size = listings.reduce((count, { entries }) => count + entries.length, 0);
    if (size > ENTRIES_LIMIT) {
      return refused(refusal('source-too-large', `The tree and its submodules hold more than ${ENTRIES_LIMIT} files.`));
    }
    lastListings = size > KEPT_ENTRIES_LIMIT ? null : { tree: commit.tree, listings };
    const facts: SourceFacts = {
      origin,
      ref,
      selection,
      objectFormat: format,
      commit: commit.id,
      tree: commit.tree,
      recipePath,
      recipeBlob: recipe.id,
      recipeDigest: digestBytes(recipe.content),
      gitlinks: submodules.value.gitlinks,
      lfsPointers,
      authorization: request.authorization,
      minimumRevision,
    };
    return ok({ facts, recipe: recipe.content.toString('base64'), fetchMs });
  }

  /** The repositories that a plan froze; the whole tree's own comes first. */
  const partsOf = (
    { directoryOf }: Opened,
    target: string,
    { origin, ref, tree, gitlinks }: SourceFacts,
  ): readonly Part[] => [
    { origin, ref, tree, base: '', directory: directoryOf(target) },
    ...gitlinks.map((link: Gitlink) => ({ ...link, base: `${link.path}/`, directory: directoryOf(target, link.path) })),
  ];

  /** Everything in every part. Names that may collide were judged when the plan was made. */
  async function listParts(
    git: Git,
    parts: readonly Part[],
    signal: AbortSignal,
  ): Promise<Outcome<readonly Listing[]>> {
    const listings: Listing[] = [];
    for (const { directory, tree: id, base } of parts) {
      const listed = await listTree({ git, directory, signal }, { id, format: formatOf(id), base }, 'keep');
      if (!listed.ok) return listed;
      listings.push(listed.value);
    }
    return ok(listings);
  }

  /** Copies out of the caches; refused with `source-unreachable` when they do not hold all of it. */
  async function copyParts(
    git: Git,
    parts: readonly Part[],
    facts: SourceFacts,
    tree: string,
    signal: AbortSignal,
  ): Promise<Outcome<'copied'>> {
    const known = lastListings?.tree === facts.tree ? ok(lastListings.listings) : await listParts(git, parts, signal);
    if (!known.ok) return known;
    const checkout = new Checkout(tree, facts.lfsPointers);
    for (const [at, { directory, origin }] of parts.entries()) {
      const copied = await copyPart(checkout, { git, directory, signal }, origin, known.value[at]?.entries ?? []);
      if (!copied.ok) return copied;
    }
    const links = facts.gitlinks.map(({ path }) => path);
    return checkout.finish([...links, ...known.value.flatMap(({ empty }) => empty)]);
  }

  async function copyPart(
    checkout: Checkout,
    { git, directory, signal }: Repository,
    origin: string,
    entries: Listing['entries'],
  ): Promise<Outcome<'copied'>> {
    let copied: Outcome<'copied'> = withdrawn(origin);
    const call = { directory, words: ['cat-file', '--batch'], input: entries.map(({ id }) => `${id}\n`), signal };
    const { exit, stderr } = await git.stream(call, async (stdout) => {
      copied = await checkout.copy(stdout, entries);
    });
    if (signal.aborted) return withdrawn(origin);
    return copied.ok && exit !== 0 ? unreachable(origin, stderr, signal) : copied;
  }

  async function stage(opened: Opened, target: string, facts: SourceFacts, stageName: string, signal: AbortSignal) {
    const { git } = opened;
    const { tree } = stagePaths(stages, stageName);
    const parts = partsOf(opened, target, facts);
    const copy = () => asOutcome(facts.origin, () => copyParts(git, parts, facts, tree, signal));
    let copied = await copy();
    if (!copied.ok && copied.refusal.code === 'source-unreachable' && (await readdir(tree)).length === 0) {
      // A cache can be thrown away at any time; what the plan froze is fetched again.
      lastListings = null;
      for (const part of parts) {
        const fetched = await fetchHead(git, part.directory, part, signal);
        if (!fetched.ok) return fetched;
      }
      copied = await copy();
    }
    lastListings = null;
    if (!copied.ok) return copied;
    // I2: what counts is what is on disk, not what was meant to be written.
    const onDisk = await treeIdOf(tree, facts);
    if (onDisk === facts.tree) return ok(verifiedTreeDigest(facts));
    return refused(
      refusal('stage-mismatch', `The staged copy of ${facts.commit} has the tree ${onDisk}, the plan ${facts.tree}.`),
    );
  }

  const opened = <T>(
    origin: string,
    signal: AbortSignal,
    work: (opened: Opened) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> =>
    asOutcome(origin, async () => {
      const now = await open(signal);
      if (signal.aborted) return withdrawn(origin);
      return now.ok ? work(now.value) : now;
    });
  return {
    async reader(signal) {
      const now = await open(signal);
      return now.ok ? ok(now.value.git.reader) : now;
    },
    readable: (origin, signal) => opened(origin, signal, ({ git }) => readable(git, origin, signal)),
    resolve: (request, signal) => opened(request.origin, signal, (now) => resolve(now, request, signal)),
    stage: (target, facts, stageName, signal) =>
      opened(facts.origin, signal, (now) => stage(now, target, facts, stageName, signal)),
  };
}

interface Opened {
  readonly git: Git;
  readonly directoryOf: (target: string, submodule?: string | null) => string;
}

const ownReading = (): Reading => ({ uid: process.geteuid?.() ?? 0, reader: null, originOwners: [] });

const malformed = (commit: string): Outcome<never> =>
  refused(refusal('source-commit-malformed', `The bytes of the commit ${commit} are not those of a proper commit.`));

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
