import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  canonicalJson,
  digestBytes,
  publicKeyFromBase64,
  publicKeyOf,
  signedBy,
  signingKeyFromSeed,
} from '@idunn/kernel';
import { parseFleet } from './fleet/parse.ts';
import { compilePlan, planDigest } from './plan/compile.ts';
import { sealedArtifact } from './seal/artifact.ts';
import { signedProvenance } from './seal/provenance.ts';
import { readReleaseRecord } from './seal/record.ts';
import { sealRelease } from './seal/seal.ts';
import { binding, factsFor, fleetOf, hostFacts, recipe, valueOf } from './testing/documents.ts';

/** Golden files are never edited: what was written once is read for ever, and its digests name releases that exist. */
const golden = (name: string): string => readFileSync(new URL(`./golden/${name}`, import.meta.url), 'utf8');
const held = (name: string, value: unknown): void => assert.equal(`${canonicalJson(value)}\n`, golden(name), name);

const asked = recipe(golden('recipe-v1.toml'));
const bound = binding(golden('binding-v1.toml'));
const plan = valueOf(
  compilePlan({
    fleet: fleetOf(bound),
    machine: 'local',
    binding: bound,
    recipe: asked,
    facts: factsFor(asked),
    hostFacts: hostFacts(),
  }),
);
const key = signingKeyFromSeed(Buffer.alloc(32, 7).toString('base64'));
const artifact = sealedArtifact('server', 'directory', [
  { path: 'server.js', digest: digestBytes('server'), bytes: 6, executable: false },
  { path: 'latest', digest: digestBytes('server.js'), bytes: 9, executable: false, link: 'server.js' },
]);
const provenance = signedProvenance(plan, [artifact], key);
const release = valueOf(sealRelease(plan, [artifact], provenance, key.keyId));

test('recipe, binding and fleet files of version 1 are read as they always were', () => {
  held('recipe-v1.json', asked.recipe);
  held('binding-v1.json', bound.binding);
  held('fleet-v1.json', valueOf(parseFleet(golden('fleet-v1.toml'), 'fleet.toml')).fleet);
});

test('the plan and its digest', () => {
  held('plan-v1.json', plan);
  assert.equal(planDigest(plan), digestBytes(golden('plan-v1.json').trimEnd()));
});

test('the sealed release, its provenance and their digests', () => {
  held('sealed-release-v1.json', release);
  assert.equal(provenance, golden('provenance-v1.json'));
  assert.deepEqual(readReleaseRecord(golden('sealed-release-v1.json')), release);
});

test('a completion record that was changed, or is of another version, is none', () => {
  const text = golden('sealed-release-v1.json');
  assert.equal(readReleaseRecord(text.replace('"target":"ghostlight"', '"target":"ghostlighd"')), null);
  assert.equal(readReleaseRecord(text.replace('sealed-release/v1', 'sealed-release/v2')), null);
  assert.equal(readReleaseRecord(text.slice(0, -10)), null);
});

test('provenance is an in-toto statement in a DSSE envelope that the authority key verifies', () => {
  const envelope = JSON.parse(provenance);
  assert.equal(envelope.payloadType, 'application/vnd.in-toto+json');
  const publicKey = publicKeyFromBase64(publicKeyOf(key.privateKey));
  assert.ok(signedBy(envelope, { publicKey }));
  assert.ok(!signedBy({ ...envelope, payload: Buffer.from('{}').toString('base64') }, { publicKey }));
  const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString());
  const predicateType = 'https://slsa.dev/provenance/v1';
  assert.partialDeepStrictEqual(statement, { _type: 'https://in-toto.io/Statement/v1', predicateType });
  assert.deepEqual(statement.subject, [
    { name: 'server/server.js', digest: { sha256: artifact.files[1]?.digest.slice(7) } },
  ]);
  assert.doesNotMatch(Buffer.from(envelope.payload, 'base64').toString(), /secrets|\/srv\/|\/usr\/bin/);
});
