import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  type Envelope,
  keyFromSeed,
  PAYLOAD_TYPE,
  preAuthEncoding,
  rawPublicKey,
  readEnvelope,
  signEnvelope,
  signedBy,
} from './envelope.ts';
import { canonicalJson } from './json.ts';

interface Golden {
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
}

/** The kernel's own vectors: two implementations, one protocol. */
const golden = JSON.parse(
  readFileSync(new URL('../../../kernel/vectors/dsse.json', import.meta.url), 'utf8'),
) as Golden;

const keys = new Map(golden.keys.map((key) => [key.name, keyFromSeed(Buffer.from(key.seed, 'base64'))]));

function keyNamed(name: string): ReturnType<typeof keyFromSeed> {
  const key = keys.get(name);
  assert.ok(key !== undefined, name);
  return key;
}

test('keys from seeds are the golden ones', () => {
  assert.ok(golden.keys.length > 0);
  for (const { name, publicKey, keyId } of golden.keys) {
    assert.equal(rawPublicKey(keyNamed(name).publicKey).toString('base64'), publicKey);
    assert.equal(keyNamed(name).keyId, keyId);
  }
});

for (const vector of golden.vectors) {
  test(`golden envelope: ${vector.name}`, () => {
    const signers = vector.signers.map(keyNamed);
    assert.equal(canonicalJson(vector.payload), vector.canonical);
    const encoded = preAuthEncoding(vector.payloadType, Buffer.from(vector.canonical));
    assert.equal(encoded.toString('base64'), vector.preAuthEncoding);
    assert.deepEqual(signEnvelope(vector.payload, signers, vector.payloadType), vector.envelope);
    for (const signer of signers) assert.ok(signedBy(vector.envelope, signer.publicKey));
    assert.equal(signedBy(vector.envelope, keyFromSeed(Buffer.alloc(32, 77)).publicKey), false);
  });
}

test('I5: an envelope whose payload was changed by one byte is not signed', () => {
  const key = keyFromSeed(Buffer.alloc(32, 1));
  const envelope = signEnvelope({ epoch: 1 }, [key]);
  assert.ok(signedBy(envelope, key.publicKey));
  const changed = { ...envelope, payload: Buffer.from('{"epoch":2}').toString('base64') };
  assert.equal(signedBy(changed, key.publicKey), false);
});

test('an envelope of another payload type is not ours', () => {
  const key = keyFromSeed(Buffer.alloc(32, 1));
  const envelope = signEnvelope({}, [key]);
  assert.equal(readEnvelope(envelope).envelope.payloadType, PAYLOAD_TYPE);
  assert.throws(() => readEnvelope({ ...envelope, payloadType: 'text/plain' }), SyntaxError);
  assert.throws(() => readEnvelope({ ...envelope, signatures: 'none' }), /signatures is not a list/);
});

test('canonical JSON refuses what JSON cannot carry', () => {
  for (const value of [Number.NaN, '\ud800', new Map(), [undefined], 1n]) {
    assert.throws(() => canonicalJson(value), TypeError);
  }
  assert.equal(canonicalJson({ b: undefined, a: -0 }), '{"a":0}');
});
