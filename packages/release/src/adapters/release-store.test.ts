import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestBytes, signingKeyFromSeed, systemClock } from '@idunn/kernel';
import { planDigest } from '../plan/compile.ts';
import { signedProvenance } from '../seal/provenance.ts';
import { sealRelease } from '../seal/seal.ts';
import { stageId, stagePaths } from '../source/stage-paths.ts';
import { examplePlan, refusalOf, valueOf } from '../testing/documents.ts';
import { createDigestMemo } from './digest-memo.ts';
import { createReleaseStore } from './release-store.ts';
import { createStages } from './stages.ts';

test('I2: a file that changes between being digested and being installed leaves no release', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'idunn-store-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  const plan = examplePlan();
  const [directory, stagesDirectory] = [join(root, 'releases'), join(root, 'stages')];
  const stage = stageId(plan.target, planDigest(plan));
  const { tree } = stagePaths(stagesDirectory, stage);
  await mkdir(join(tree, 'dist'), { recursive: true });
  await writeFile(join(tree, 'dist/server.js'), 'one');
  const artifacts = [];
  for (const spec of plan.artifacts) artifacts.push(valueOf(await createStages(stagesDirectory).artifact(stage, spec)));
  const key = signingKeyFromSeed(Buffer.alloc(32, 3).toString('base64'));
  const provenance = signedProvenance(plan, artifacts, key);
  const release = valueOf(sealRelease(plan, artifacts, provenance, key.keyId));
  assert.equal(release.entry?.digest, digestBytes('one'));

  await writeFile(join(tree, 'dist/server.js'), 'two');
  const digests = createDigestMemo(systemClock());
  const store = createReleaseStore({ directory, stages: stagesDirectory, digests });
  assert.equal(refusalOf(await store.install(release, provenance, stage, plan.artifacts)).code, 'stage-mismatch');
  assert.equal(refusalOf(await store.verify(release.release)).code, 'release-missing');
  // What was begun is thrown away by the next attempt (F27), which succeeds once the bytes are as sealed.
  await writeFile(join(tree, 'dist/server.js'), 'one');
  valueOf(await store.install(release, provenance, stage, plan.artifacts));
  assert.deepEqual(valueOf(await store.verify(release.release)), release);
  await store.remove(release.release);
  assert.deepEqual(await readdir(directory), []);
});
