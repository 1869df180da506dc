import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, systemClock } from '@idunn/kernel';
import { type ResolvedSource, type SourceRequest, stagePaths } from '@idunn/release';
import { type Reading, readerFor } from '../reader.ts';
import { createGitSource, type GitSourceOptions } from '../source.ts';
import { Repository, temporary } from './repository.ts';

export const RECIPE = 'deployment/idunn/recipe.toml';
export const STAGE = `app-${'0'.repeat(64)}`;

/** A repository with a recipe and one file, and the source that reads it. */
export async function bench(
  context: { after(work: () => Promise<void>): void },
  objectFormat: 'sha1' | 'sha256' = 'sha1',
  options: Partial<GitSourceOptions> & { readonly place?: string } = {},
) {
  const root = await temporary(context);
  const repository = await Repository.create(join(root, 'origin'), objectFormat);
  await repository.write(RECIPE, 'target = "app"\n');
  await repository.write('src/main.js', 'console.log(1)\r\nwith\tboth\n');
  const first = await repository.commit('first');
  const { place = 'cache', ...more } = options;
  const [cache, stages] = [join(root, place), join(root, 'stages')];
  const paths = stagePaths(stages, STAGE);
  const reading = more.reading ?? asDaemon;
  const { account } = valueOf(await readerFor(reading()));
  /** Where the reader keeps object caches, and that of the target. */
  const caches = account === null ? cache : join(cache, `reader-${account.uid}`);
  const objects = join(caches, 'app.git');
  const source = createGitSource({
    git: '/usr/bin/git',
    bubblewrap: '/usr/bin/bwrap',
    cache,
    stages,
    clock: systemClock(),
    reading,
    ...more,
  });
  const request = (changes: Partial<SourceRequest> = {}): SourceRequest => ({
    target: 'app',
    origin: repository.path,
    ref: 'refs/heads/main',
    selection: 'ref-head',
    commit: null,
    authorization: null,
    minimumRevision: first,
    recipePath: RECIPE,
    submodules: [],
    lfsPointers: 'refuse',
    collidingNames: 'refuse',
    ...changes,
  });
  const resolve = (more?: Partial<SourceRequest>) => source.resolve(request(more), never());
  const stage = async (resolved: ResolvedSource, signal = never()) => {
    await rm(paths.root, { recursive: true, force: true });
    await mkdir(paths.tree, { recursive: true });
    return source.stage('app', resolved.facts, STAGE, signal);
  };
  return {
    root,
    repository,
    reader: account,
    first,
    cache,
    caches,
    objects,
    stages,
    paths,
    source,
    request,
    resolve,
    stage,
  };
}

/** A daemon of the test's own user, whose fleet names no reader. */
const asDaemon = (): Reading => ({ uid: process.geteuid?.() ?? 0, reader: null, originOwners: [] });

export const never = (): AbortSignal => new AbortController().signal;

export function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.refusal)}`);
  return outcome.value;
}

export function codeOf(outcome: Outcome<unknown>): string {
  assert.ok(!outcome.ok, 'it was not refused');
  return outcome.refusal.code;
}
