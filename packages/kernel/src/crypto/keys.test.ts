import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  freshSeed,
  type KeyRecord,
  type KeyUse,
  keyRecordSchema,
  publicKeyOf,
  signingKeyFromSeed,
  usableKey,
  verificationKey,
  verificationKeyOf,
} from './keys.ts';

const key = signingKeyFromSeed(freshSeed());
const record: KeyRecord = {
  schema: 'idunn.key/v1',
  keyId: key.keyId,
  publicKey: publicKeyOf(key.privateKey),
  purpose: 'observer',
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2027-01-01T00:00:00.000Z',
  retiredAt: null,
};
const now = (iso: string): KeyUse => ({ kind: 'now', wallMs: Date.parse(iso) });
const history = (iso: string): KeyUse => ({ kind: 'history', madeAtMs: Date.parse(iso) });
const verdict = (use: KeyUse, of: KeyRecord = record, purpose: KeyRecord['purpose'] = 'observer'): string => {
  const usable = usableKey(of, purpose, use);
  return usable.ok ? usable.value.keyId : usable.refusal.code;
};

test('a key is usable for its purpose within its span, both ends exact', () => {
  assert.equal(verdict(now('2026-01-01T00:00:00.000Z')), key.keyId);
  assert.equal(verdict(now('2026-12-31T23:59:59.999Z')), key.keyId);
  assert.equal(verdict(now('2025-12-31T23:59:59.999Z')), 'key-not-yet-valid');
  assert.equal(verdict(now('2027-01-01T00:00:00.000Z')), 'key-expired');
});

test('I5: a key of another purpose is worth nothing', () => {
  assert.equal(verdict(now('2026-06-01T00:00:00.000Z'), record, 'authority'), 'key-wrong-purpose');
});

test('a retired key verifies what was made before it retired, and nothing else', () => {
  const retired = { ...record, retiredAt: '2026-06-01T00:00:00.000Z' };
  assert.equal(verdict(now('2026-05-01T00:00:00.000Z'), retired), 'key-retired');
  assert.equal(verdict(history('2026-05-31T23:59:59.999Z'), retired), key.keyId);
  assert.equal(verdict(history('2026-06-01T00:00:00.000Z'), retired), 'key-retired');
});

test('I9: what a machine says to itself no wall clock forbids; a retired key and another purpose are refused', () => {
  const own: KeyUse = { kind: 'own' };
  assert.equal(verdict(own), key.keyId);
  assert.equal(verdict(own, { ...record, retiredAt: '2026-06-01T00:00:00.000Z' }), 'key-retired');
  assert.equal(verdict(own, record, 'authority'), 'key-wrong-purpose');
});

test('an expired key verifies history made within its span', () => {
  assert.equal(verdict(history('2026-06-01T00:00:00.000Z')), key.keyId);
  assert.equal(verdict(history('2027-06-01T00:00:00.000Z')), 'key-expired');
});

test('a record binds its key id to its public key, and has a span', () => {
  assert.ok(keyRecordSchema.safeParse(record).success);
  const other = publicKeyOf(signingKeyFromSeed(freshSeed()).privateKey);
  for (const wrong of [
    { ...record, publicKey: other },
    { ...record, notAfter: record.notBefore },
    { ...record, purpose: 'anything' },
    { ...record, schema: 'idunn.key/v2' },
    { ...record, more: 1 },
    { ...record, publicKey: record.publicKey.replace('=', '') },
  ]) {
    assert.equal(keyRecordSchema.safeParse(wrong).success, false);
  }
});

test('what is not 32 bytes in base64 is no seed', () => {
  for (const seed of ['', 'AQ==', freshSeed().slice(0, -1), `${freshSeed()}\n`]) {
    assert.throws(() => signingKeyFromSeed(seed), TypeError);
  }
});

test('what verifies a signing key’s own signatures is derived once for each key', () => {
  const [one, other] = [signingKeyFromSeed(freshSeed()), signingKeyFromSeed(freshSeed())];
  const derived = verificationKeyOf(one);
  assert.equal(derived.keyId, one.keyId);
  assert.deepEqual(derived, verificationKey(publicKeyOf(one.privateKey)));
  assert.equal(verificationKeyOf(one), derived);
  assert.notEqual(verificationKeyOf(other).keyId, derived.keyId);
});
