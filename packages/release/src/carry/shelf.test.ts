import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { publicKeyOf, randomIds, signingKeyFromSeed, systemClock } from '@idunn/kernel';
import { createDigestMemo } from '../adapters/digest-memo.ts';
import { createReleaseStore, releaseDirectory } from '../adapters/release-store.ts';
import { createStages } from '../adapters/stages.ts';
import { planDigest } from '../plan/compile.ts';
import { signedProvenance } from '../seal/provenance.ts';
import { sealRelease } from '../seal/seal.ts';
import { stageId, stagePaths } from '../source/stage-paths.ts';
import { examplePlan, refusalOf, valueOf } from '../testing/documents.ts';
import { createBuildShelf } from './shelf.ts';

const key = (seed: number) => signingKeyFromSeed(Buffer.alloc(32, seed).toString('base64'));
const publicOf = (seed: number): string => publicKeyOf(key(seed).privateKey);

const plan = examplePlan();

/** A fleet that has sealed the plan, and another that has not. */
async function fleets(context: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'idunn-carry-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  const fleet = (name: string, seed: number) => {
    const [releases, stages] = [join(root, name, 'releases'), join(root, name, 'stages')];
    const stage = stageId(plan.target, planDigest(plan));
    const shelf = createBuildShelf({
      directory: join(root, name, 'builds'),
      releases,
      stages,
      key: key(seed),
      ids: randomIds,
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
  return { root, lower, upper, release, exported, builders: [publicOf(9), publicOf(3)] };
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
