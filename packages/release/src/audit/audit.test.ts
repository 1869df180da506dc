import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  digestBytes,
  type KeyRecord,
  publicKeyOf,
  type SigningKey,
  seen,
  signEnvelope,
  signingKeyFromSeed,
  systemClock,
} from '@idunn/kernel';
import { createDigestMemo } from '../adapters/digest-memo.ts';
import { createReleaseStore, releaseDirectory } from '../adapters/release-store.ts';
import { createStages } from '../adapters/stages.ts';
import type { SealedArtifact, SealedRelease } from '../model/sealed-release.ts';
import { compilePlan, planDigest } from '../plan/compile.ts';
import { IN_TOTO_PAYLOAD_TYPE, provenanceStatement, signedProvenance } from '../seal/provenance.ts';
import { releaseDigest, sealRelease } from '../seal/seal.ts';
import { stageId, stagePaths } from '../source/stage-paths.ts';
import { binding, docsExample, factsFor, fleetOf, hostFacts, recipe, valueOf } from '../testing/documents.ts';
import { auditInThread } from './in-thread.ts';
import type { AuditRequest } from './request.ts';

const AUTHORITY = signingKeyFromSeed(Buffer.alloc(32, 3).toString('base64'));
const FORGER = signingKeyFromSeed(Buffer.alloc(32, 4).toString('base64'));
const SEALED_AT = Date.parse('2026-06-01T00:00:00.000Z');

const recordOf = ({ keyId, privateKey }: SigningKey): KeyRecord => ({
  schema: 'idunn.key/v1',
  keyId,
  purpose: 'authority',
  publicKey: publicKeyOf(privateKey),
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2036-01-01T00:00:00.000Z',
  retiredAt: null,
});

interface Installed {
  readonly request: AuditRequest;
  readonly record: SealedRelease;
  readonly artifacts: readonly SealedArtifact[];
  readonly interpreter: string;
  readonly server: string;
  /** Each check that is not ok, as `check verdict`. */
  readonly faults: (change?: Partial<AuditRequest>) => Promise<string[]>;
}

/** A release of the documented example on a real disk, under an interpreter of its own. */
async function installed(t: TestContext): Promise<Installed> {
  const root = await mkdtemp(join(tmpdir(), 'idunn-audit-'));
  t.after(async () => {
    await chmod(directory, 0o700);
    await chmod(join(directory, 'server'), 0o700);
    await rm(root, { recursive: true, force: true });
  });
  const interpreter = join(root, 'node');
  await writeFile(interpreter, 'interpreter', { mode: 0o755 });
  const bound = binding(docsExample('binding').replaceAll('/usr/bin/node', interpreter));
  const asked = recipe();
  const facts = hostFacts({
    interpreters: { [interpreter]: seen(digestBytes('interpreter')) },
    programs: { [interpreter]: seen('executable') },
  });
  const plan = valueOf(
    compilePlan({
      fleet: fleetOf(bound),
      machine: 'local',
      binding: bound,
      recipe: asked,
      facts: factsFor(asked),
      hostFacts: facts,
    }),
  );
  const stages = join(root, 'stages');
  const stage = stageId(plan.target, planDigest(plan));
  const { tree } = stagePaths(stages, stage);
  await mkdir(join(tree, 'dist/lib'), { recursive: true });
  await writeFile(join(tree, 'dist/server.js'), 'serve()');
  await writeFile(join(tree, 'dist/lib/tool'), 'tool', { mode: 0o755 });
  const artifacts: SealedArtifact[] = [];
  for (const spec of plan.artifacts) artifacts.push(valueOf(await createStages(stages).artifact(stage, spec)));
  const provenance = signedProvenance(plan, artifacts, AUTHORITY);
  const record = valueOf(sealRelease(plan, artifacts, provenance, AUTHORITY.keyId));
  const releases = join(root, 'releases');
  const store = createReleaseStore({ directory: releases, stages, digests: createDigestMemo(systemClock()) });
  valueOf(await store.install(record, provenance, stage, plan.artifacts));
  const directory = releaseDirectory(releases, record.release);
  const keys = [recordOf(FORGER), recordOf(AUTHORITY)];
  const request: AuditRequest = { directory, release: record.release, plan, keys, sealedAtMs: SEALED_AT };
  return {
    request,
    record,
    artifacts,
    interpreter,
    server: join(directory, 'server/server.js'),
    async faults(change = {}) {
      const checks = await auditInThread({ ...request, ...change }, new AbortController().signal);
      return checks.filter(({ verdict }) => verdict !== 'ok').map(({ check, verdict }) => `${check} ${verdict}`);
    },
  };
}

/** Writes over a sealed, read-only file. */
async function overwrite(file: string, text: string): Promise<void> {
  await chmod(file, 0o644);
  await writeFile(file, text);
  await chmod(file, 0o444);
}

test('I2: a release that is as sealed passes every check, and each check says what it saw', async (t) => {
  const { request } = await installed(t);
  const checks = await auditInThread(request, new AbortController().signal);
  assert.deepEqual(
    checks.map(({ check, verdict }) => `${check} ${verdict}`),
    [
      'completion record ok',
      'plan ok',
      'build ok',
      'launch contract ok',
      'provenance ok',
      'provenance signature ok',
      'provenance statement ok',
      'artifact server ok',
      'release directory ok',
      'interpreter ok',
    ],
  );
  assert.ok(checks.every(({ detail }) => detail.length > 10));
});

test('I2: a flipped byte is found, although size and times are as before', async (t) => {
  const { server, faults } = await installed(t);
  const { atime, mtime } = await stat(server);
  await overwrite(server, 'Serve()');
  await utimes(server, atime, mtime);
  assert.deepEqual(await faults(), ['artifact server differs']);
});

test('I2: a swapped, a missing, an added and a newly executable file are each found', async (t) => {
  const { request, server, faults } = await installed(t);
  const inside = join(request.directory, 'server');
  await chmod(inside, 0o755);
  await writeFile(`${server}.new`, 'other()');
  await rename(`${server}.new`, server);
  assert.deepEqual(await faults(), ['artifact server differs'], 'swapped');
  await overwrite(server, 'serve()');
  assert.deepEqual(await faults(), []);
  await writeFile(join(inside, 'added'), '');
  assert.deepEqual(await faults(), ['artifact server differs'], 'added');
  await rm(join(inside, 'added'));
  await chmod(server, 0o555);
  assert.deepEqual(await faults(), ['artifact server differs'], 'executable');
  await rm(server);
  assert.deepEqual(await faults(), ['artifact server differs'], 'missing');
});

test('what lies beside the artifacts and was not sealed is found', async (t) => {
  const { request, faults } = await installed(t);
  await chmod(request.directory, 0o755);
  await writeFile(join(request.directory, 'extra'), '');
  assert.deepEqual(await faults(), ['release directory differs']);
});

test('I2: a changed interpreter is found, and so is one that is gone', async (t) => {
  const { interpreter, faults } = await installed(t);
  await writeFile(interpreter, 'Interpreter');
  assert.deepEqual(await faults(), ['interpreter differs']);
  await rm(interpreter);
  assert.deepEqual(await faults(), ['interpreter differs']);
});

test('I2: a forged provenance is found: by another key, about other bytes, and with a record to match', async (t) => {
  const { request, record, artifacts, faults } = await installed(t);
  const { directory, plan } = request;
  const file = join(directory, 'provenance.json');
  await overwrite(file, signedProvenance(plan, artifacts, FORGER));
  assert.deepEqual(await faults(), ['provenance differs', 'provenance signature differs']);
  const other = { ...provenanceStatement(plan, artifacts), subject: [] };
  await overwrite(file, `${JSON.stringify(signEnvelope(other, [AUTHORITY], IN_TOTO_PAYLOAD_TYPE))}\n`);
  assert.deepEqual(await faults(), ['provenance differs', 'provenance statement differs']);
  await overwrite(file, 'no envelope');
  assert.deepEqual(await faults(), ['provenance differs', 'provenance signature differs']);
  // A record that was forged to match is the record of another release.
  const forged = signedProvenance(plan, artifacts, FORGER);
  const matching = { ...record, provenance: digestBytes(forged), sealedBy: FORGER.keyId };
  await overwrite(file, forged);
  await overwrite(join(directory, 'release.json'), JSON.stringify({ ...matching, release: releaseDigest(matching) }));
  assert.deepEqual(await faults(), ['completion record differs']);
});

test('a key that is not kept leaves the signature unknown, one that was not in force proves nothing', async (t) => {
  const { request, faults } = await installed(t);
  assert.deepEqual(await faults({ keys: [] }), ['provenance signature unknown']);
  const later = { ...recordOf(AUTHORITY), notBefore: '2026-06-02T00:00:00.000Z' };
  assert.deepEqual(await faults({ keys: [later] }), ['provenance signature differs']);
  const retired = { ...recordOf(AUTHORITY), retiredAt: '2026-06-02T00:00:00.000Z' };
  assert.deepEqual(await faults({ keys: [retired] }), [], 'a key that was retired since verifies what it signed');
  assert.equal((await readFile(join(request.directory, 'release.json'), 'utf8')).includes(AUTHORITY.keyId), true);
});

test('another plan than the sealed one shows in everything that follows from it', async (t) => {
  const { request, faults } = await installed(t);
  const [first, ...steps] = request.plan.steps;
  assert.ok(first);
  const plan = { ...request.plan, steps: [{ ...first, argv: ['node', 'evil.js'] as const }, ...steps] };
  assert.deepEqual(await faults({ plan }), ['plan differs', 'build differs', 'provenance statement differs']);
});

test('F13: a release that is gone is said to be gone', async (t) => {
  const { request, faults } = await installed(t);
  await rename(request.directory, `${request.directory}-away`);
  assert.deepEqual(await faults(), ['completion record differs']);
  await rename(`${request.directory}-away`, request.directory);
});

test('an audit that is withdrawn ends at once and proves nothing', async (t) => {
  const { request } = await installed(t);
  const [only, ...more] = await auditInThread(request, AbortSignal.abort());
  assert.equal(only?.verdict, 'unknown');
  assert.deepEqual(more, []);
});
