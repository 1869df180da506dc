import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { canonicalJson } from '../canonical.ts';
import type { Envelope } from './envelope.ts';
import { preAuthEncoding, signEnvelope } from './envelope.ts';
import { publicKeyOf, signingKeyFromSeed, verificationKey } from './keys.ts';
import { verifyEnvelope } from './open-envelope.ts';

interface Vectors {
  readonly keys: readonly { name: string; seed: string; publicKey: string; keyId: string }[];
  readonly vectors: readonly {
    name: string;
    payloadType: string;
    signers: readonly string[];
    payload: unknown;
    canonical: string;
    preAuthEncoding: string;
    envelope: Envelope;
  }[];
  readonly refused: readonly { name: string; signers: readonly string[]; envelope: Envelope }[];
}

const golden = JSON.parse(readFileSync(new URL('../../vectors/dsse.json', import.meta.url), 'utf8')) as Vectors;
const keyNamed = (name: string) => {
  const key = golden.keys.find((candidate) => candidate.name === name);
  assert.ok(key, `vector key ${name}`);
  return key;
};

for (const key of golden.keys) {
  test(`vector key ${key.name}: seed, public key and key id belong together`, () => {
    const signingKey = signingKeyFromSeed(key.seed);
    assert.equal(signingKey.keyId, key.keyId);
    assert.equal(publicKeyOf(signingKey.privateKey), key.publicKey);
  });
}

for (const vector of golden.vectors) {
  test(`vector "${vector.name}": exactly these bytes are signed, and verify`, () => {
    assert.equal(canonicalJson(vector.payload), vector.canonical);
    const encoded = preAuthEncoding(vector.payloadType, Buffer.from(vector.canonical));
    assert.equal(encoded.toString('base64'), vector.preAuthEncoding);
    const signers = vector.signers.map((name) => signingKeyFromSeed(keyNamed(name).seed));
    assert.deepEqual(signEnvelope(vector.payload, signers, vector.payloadType), vector.envelope);
    const keys = vector.signers.map((name) => verificationKey(keyNamed(name).publicKey));
    const verified = verifyEnvelope({ envelope: vector.envelope, keys, payloadType: vector.payloadType });
    assert.ok(verified.ok);
    assert.equal(verified.value.bytes.toString(), vector.canonical);
  });
}

for (const { name, signers, envelope } of golden.refused) {
  test(`vector "${name}": is refused`, () => {
    const keys = signers.map((signer) => verificationKey(keyNamed(signer).publicKey));
    assert.equal(verifyEnvelope({ envelope, keys, payloadType: envelope.payloadType }).ok, false);
  });
}
