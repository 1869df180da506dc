import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  canonicalJson,
  type Digest,
  digestBytes,
  publicKeyOf,
  randomIds,
  signingKeyFromSeed,
  systemClock,
} from '@idunn/kernel';
import { createDigestMemo } from '../adapters/digest-memo.ts';
import { createReleaseStore, releaseDirectory } from '../adapters/release-store.ts';
import { createStages } from '../adapters/stages.ts';
import type { SealedArtifact, SealedRelease } from '../model/sealed-release.ts';
import { planDigest } from '../plan/compile.ts';
import { sealedArtifact } from '../seal/artifact.ts';
import { signedProvenance } from '../seal/provenance.ts';
import { buildContent, sealRelease } from '../seal/seal.ts';
import { stageId, stagePaths } from '../source/stage-paths.ts';
import { examplePlan, refusalOf, valueOf } from '../testing/documents.ts';
import { createBuildShelf, KEPT_LIMIT } from './shelf.ts';
import { signBuildExport } from './statement.ts';

const key = (seed: number) => signingKeyFromSeed(Buffer.alloc(32, seed).toString('base64'));
const publicOf = (seed: number): string => publicKeyOf(key(seed).privateKey);

const plan = examplePlan();

/** A fleet that has sealed the plan, and another that has not. */
async function fleets(context: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'idunn-carry-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  const named: Digest[] = [];
  const fleet = (name: string, seed: number) => {
    const [releases, stages] = [join(root, name, 'releases'), join(root, name, 'stages')];
    const stage = stageId(plan.target, planDigest(plan));
    const shelf = createBuildShelf({
      directory: join(root, name, 'builds'),
      releases,
      stages,
      key: key(seed),
      ids: randomIds,
      named: async () => named,
    });
    return { releases, stages, stage, shelf, tree: stagePaths(stages, stage).tree };
  };
  const [lower, upper] = [fleet('lower', 3), fleet('upper', 4)];
  await mkdir(join(lower.tree, 'dist/inner'), { recursive: true });
  await writeFile(join(lower.tree, 'dist/server.js'), 'one');
  await writeFile(join(lower.tree, 'dist/inner/run'), 'two', { mode: 0o755 });
  const artifacts = [];
  for (const spec of plan.artifacts)
    artifacts.push(valueOf(await createStages(lower.stages).artifact(lower.stage, spec)));
  const provenance = signedProvenance(plan, artifacts, key(3));
  const release = valueOf(sealRelease(plan, artifacts, provenance, key(3).keyId));
  const digests = createDigestMemo(systemClock());
  const store = createReleaseStore({ directory: lower.releases, stages: lower.stages, digests });
  valueOf(await store.install(release, provenance, lower.stage, plan.artifacts));
  await mkdir(upper.tree, { recursive: true });
  const exported = valueOf(await lower.shelf.export({ release, plan }, join(root, 'out')));
  return { root, lower, upper, release, exported, builders: [publicOf(9), publicOf(3)], named };
}

test('I2: a build goes to another fleet byte for byte, and is placed where the steps would have left it', async (t) => {
  const { lower, upper, release, exported, builders, root } = await fleets(t);
  assert.equal(
    valueOf(await lower.shelf.export({ release, plan }, join(root, 'out'))),
    exported,
    'a repeat is the same',
  );
  const taken = valueOf(await upper.shelf.take(exported, builders));
  assert.deepEqual(taken, { build: release.build, target: plan.target, commit: plan.source.commit });
  assert.deepEqual(valueOf(await upper.shelf.take(exported, builders)), taken);
  await mkdir(join(upper.tree, 'dist'));
  await writeFile(join(upper.tree, 'dist/left.js'), 'of the source');
  assert.equal(valueOf(await upper.shelf.place(release.build, upper.stage, plan.artifacts)), release.provenance);
  for (const spec of plan.artifacts) {
    const artifact = valueOf(await createStages(upper.stages).artifact(upper.stage, spec));
    assert.equal(artifact.digest, release.artifacts.find(({ id }) => id === spec.id)?.digest);
  }
});

test('a build that is not here is not placed; one that this fleet sealed itself is', async (t) => {
  const { lower, upper, release } = await fleets(t);
  assert.equal(valueOf(await upper.shelf.place(release.build, upper.stage, plan.artifacts)), null);
  assert.equal(valueOf(await lower.shelf.place(release.build, lower.stage, plan.artifacts)), release.provenance);
});

test('what nobody admitted signed, and what is not as it was signed, is refused and leaves nothing', async (t) => {
  const { upper, exported, builders, release } = await fleets(t);
  const take = async (admitted = builders) => refusalOf(await upper.shelf.take(exported, admitted)).code;
  assert.equal(await take([publicOf(9)]), 'builder-unknown');
  assert.equal(await take([]), 'builder-unknown');
  const spoil = async (name: string, change: (text: string) => string): Promise<string> => {
    const file = join(exported, name);
    const text = await readFile(file, 'utf8');
    await chmod(file, 0o600);
    await writeFile(file, change(text));
    const code = await take();
    await writeFile(file, text);
    return code;
  };
  assert.equal(await spoil('artifacts.json', (text) => text.replace('server.js', 'serves.js')), 'build-export-altered');
  assert.equal(
    await spoil('artifacts.json', (text) => text.replace('server.js', '../../x.js')),
    'build-export-altered',
  );
  assert.equal(await spoil('provenance.json', (text) => `${text} `), 'build-export-altered');
  assert.equal(await spoil('export.json', () => 'torn'), 'envelope-malformed');
  assert.equal(await spoil('artifacts/server/server.js', () => 'eno'), 'build-export-altered');
  await rm(join(exported, 'export.json'), { force: true });
  assert.equal(await take(), 'build-export-missing');
  assert.equal(valueOf(await upper.shelf.place(release.build, upper.stage, plan.artifacts)), null);
});

test('F13: a sealed release whose bytes were altered is not exported', async (t) => {
  const { lower, release, root } = await fleets(t);
  const file = join(releaseDirectory(lower.releases, release.release), 'server/server.js');
  await chmod(file, 0o600);
  await writeFile(file, 'eno');
  const refused = await lower.shelf.export({ release, plan }, join(root, 'other'));
  assert.equal(refusalOf(refused).code, 'build-export-altered');
});

/** Signs an export whose lists are whatever a dishonest builder likes, each artifact carrying its own digest. */
async function forged(
  root: string,
  release: SealedRelease,
  lists: readonly Pick<SealedArtifact, 'id' | 'kind' | 'files'>[],
) {
  const artifacts = lists.map(({ id, kind, files }) => sealedArtifact(id, kind, files));
  const provenance = 'words';
  const content = buildContent(plan, artifacts);
  const words = { target: release.target, content, provenance: digestBytes(provenance) };
  const directory = await mkdtemp(join(root, 'forged-'));
  await mkdir(join(directory, 'artifacts'));
  await writeFile(join(directory, 'provenance.json'), provenance);
  await writeFile(join(directory, 'artifacts.json'), canonicalJson(artifacts));
  await writeFile(join(directory, 'export.json'), canonicalJson(signBuildExport(words, key(3))));
  return directory;
}

test('I11: no list of a builder leads out of its directory, names a path twice or goes through a file', async (t) => {
  const { root, upper, release, builders } = await fleets(t);
  const file = (path: string, link?: string) => ({
    path,
    digest: digestBytes(link ?? ''),
    bytes: 0,
    executable: false,
    ...(link === undefined ? {} : { link }),
  });
  const directory = (...files: readonly ReturnType<typeof file>[]) => ({
    id: 'dist',
    kind: 'directory' as const,
    files,
  });
  const take = async (...lists: Parameters<typeof forged>[2]) => {
    const taken = await upper.shelf.take(await forged(root, release, lists), builders);
    return taken.ok ? 'taken' : taken.refusal.code;
  };
  assert.equal(await take(directory(file('a/inner', '../b'), file('link', 'a/inner'))), 'taken');
  for (const refusedList of [
    [directory(file('link', '/etc'))],
    [directory(file('a/link', '../../elsewhere'))],
    [directory(file('one', 'two/..'), file('two', '..'))],
    [directory(file('a'), file('a/b'))],
    [directory(file('link', 'a'), file('link/b'))],
    [directory(file('a'), file('a'))],
    [directory(file(''))],
    [directory(file('./a'))],
    [directory(file('a\0'))],
    [directory(file('a')), directory(file('b'))],
    [{ id: 'dist', kind: 'file' as const, files: [file('', '/etc/passwd')] }],
    [{ id: 'dist', kind: 'file' as const, files: [file('a')] }],
  ]) {
    assert.equal(await take(...refusedList), 'build-export-altered', JSON.stringify(refusedList));
  }
});

test('F2: an export of pipes, links and directories where files should be is refused at once', async (t) => {
  const { upper, exported, builders } = await fleets(t);
  const take = async () => refusalOf(await upper.shelf.take(exported, builders)).code;
  const file = join(exported, 'artifacts/server/server.js');
  const text = await readFile(file);
  for (const put of [
    () => execFileSync('mkfifo', [file]),
    () => symlinkSync('/etc/hostname', file),
    () => mkdirSync(file),
  ]) {
    await rm(file, { recursive: true });
    put();
    assert.equal(await take(), 'build-export-altered');
  }
  await rm(file, { recursive: true });
  await writeFile(file, text);
  for (const name of ['export.json', 'artifacts.json', 'provenance.json']) {
    await rm(join(exported, name));
    execFileSync('mkfifo', [join(exported, name)]);
    assert.equal(await take(), 'build-export-missing');
  }
});

test('F27: a carried build that is no longer whole is made anew, and two that ask at once get the same', async (t) => {
  const { root, lower, upper, release, exported, builders } = await fleets(t);
  const [one, two] = await Promise.all([upper.shelf.take(exported, builders), upper.shelf.take(exported, builders)]);
  assert.deepEqual(valueOf(one), valueOf(two));
  const name = release.build.slice('sha256:'.length);
  for (const again of [
    {
      file: join(exported, 'artifacts/server/server.js'),
      make: () => lower.shelf.export({ release, plan }, join(root, 'out')),
    },
    {
      file: join(root, 'upper/builds', name, 'artifacts/server/server.js'),
      make: () => upper.shelf.take(exported, builders),
    },
  ]) {
    await chmod(again.file, 0o600);
    await writeFile(again.file, 'torn');
    assert.ok((await again.make()).ok);
    assert.equal(await readFile(again.file, 'utf8'), 'one');
  }
  assert.equal(valueOf(await upper.shelf.place(release.build, upper.stage, plan.artifacts)), release.provenance);
});

test('F4: the oldest builds go, those that may still be deployed stay, and what a crash left goes', async (t) => {
  const { root, upper, release, exported, builders, named } = await fleets(t);
  const first = valueOf(await upper.shelf.take(exported, builders)).build;
  named.push(first);
  const builds = join(root, 'upper/builds');
  await mkdir(join(builds, '.draft-build-9'));
  for (let count = 0; count <= KEPT_LIMIT; count += 1) {
    const text = String(count);
    const directory = await forged(root, release, [
      { id: 'dist', kind: 'file', files: [{ path: '', digest: digestBytes(text), bytes: 1, executable: false }] },
    ]);
    await writeFile(join(directory, 'artifacts/dist'), text);
    valueOf(await upper.shelf.take(directory, builders));
  }
  assert.equal((await readdir(builds)).length, KEPT_LIMIT + 1);
  assert.notEqual(await upper.shelf.find(first), null);
});
