import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { test } from 'node:test';
import { z } from 'zod';
import { digestJson } from '../digest.ts';
import { PAYLOAD_TYPE, preAuthEncoding, signEnvelope } from './envelope.ts';
import { freshSeed, publicKeyOf, signingKeyFromSeed, verificationKey } from './keys.ts';
import { headerSchema, MAX_PAYLOAD_BYTES, openEnvelope, verifyEnvelope } from './open-envelope.ts';

const signer = () => {
  const signing = signingKeyFromSeed(freshSeed());
  return { signing, verification: verificationKey(publicKeyOf(signing.privateKey)) };
};
const first = signer();
const second = signer();
const shape = z.strictObject({ header: headerSchema, text: z.string() });
const header = {
  schema: 'idunn.note/v1',
  issuer: first.signing.keyId,
  audience: { fleet: 'alpha', machine: 'local' },
  subject: 'ghostlight',
  requestId: 'req-1',
  sequence: 1,
};
const note = { header, text: 'hello' };
const want = {
  keys: [first.verification, second.verification],
  schema: 'idunn.note/v1',
  shape,
  audience: { fleet: 'alpha', machine: 'local' },
  subject: 'ghostlight',
};
const both = [first.signing, second.signing];

const codeOf = (envelope: unknown, more: Partial<typeof want> = {}): string => {
  const opened = openEnvelope({ ...want, ...more, envelope });
  return opened.ok ? 'opened' : opened.refusal.code;
};

test('a message that all signed, for us and about what was asked, opens with its digest', () => {
  const opened = openEnvelope({ ...want, envelope: JSON.parse(JSON.stringify(signEnvelope(note, both))) as unknown });
  assert.deepEqual(opened, { ok: true, value: { payload: note, digest: digestJson(note) } });
});

test('I5: a message for another fleet, machine or subject is worth nothing', () => {
  const envelope = signEnvelope(note, both);
  assert.equal(codeOf(envelope, { audience: { fleet: 'beta', machine: 'local' } }), 'envelope-wrong-audience');
  assert.equal(codeOf(envelope, { audience: { fleet: 'alpha', machine: 'm2' } }), 'envelope-wrong-audience');
  assert.equal(codeOf(envelope, { subject: 'almanac' }), 'envelope-wrong-subject');
});

test('I5: a message of one kind is worth nothing as another', () => {
  assert.equal(codeOf(signEnvelope(note, both), { schema: 'idunn.note/v2' }), 'envelope-wrong-schema');
  assert.equal(codeOf(signEnvelope(note, both, 'application/vnd.in-toto+json')), 'envelope-malformed');
});

test('every key must have signed, whatever the key ids say', () => {
  assert.equal(codeOf(signEnvelope(note, [first.signing])), 'envelope-not-signed');
  assert.equal(codeOf(signEnvelope(note, [second.signing])), 'envelope-not-signed');
  const lying = signEnvelope(note, [first.signing, { ...signer().signing, keyId: second.signing.keyId }]);
  assert.equal(codeOf(lying), 'envelope-not-signed');
});

test('a key id that lies hides no signature', () => {
  const swapped = both.map((key, index) => ({ ...key, keyId: both[1 - index]?.keyId ?? '' }));
  assert.equal(codeOf(signEnvelope(note, swapped)), 'opened');
});

test('the issuer is the first key', () => {
  assert.equal(codeOf(signEnvelope(note, both), { keys: want.keys.toReversed() }), 'envelope-wrong-issuer');
});

test('no keys is a fault of the caller, not a message that everybody signed', () => {
  const envelope = signEnvelope(note, both);
  assert.throws(() => verifyEnvelope({ envelope, keys: [], payloadType: PAYLOAD_TYPE }), TypeError);
});

test('what is not an envelope is refused, never thrown', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const envelope of [
    null,
    undefined,
    7,
    'x',
    [],
    {},
    { ...signEnvelope(note, both), more: 1 },
    JSON.parse(deep),
  ]) {
    assert.equal(codeOf(envelope), 'envelope-malformed');
  }
});

test('a payload of another shape is refused, also when it is signed', () => {
  assert.equal(codeOf(signEnvelope({ ...note, extra: 1 }, both)), 'envelope-malformed');
  assert.equal(codeOf(signEnvelope({ text: 'no header' }, both)), 'envelope-malformed');
  assert.equal(codeOf(signEnvelope(['header'], both)), 'envelope-malformed');
});

test('each limit is held', () => {
  const long = signEnvelope({ ...note, text: 'x'.repeat(MAX_PAYLOAD_BYTES) }, both);
  assert.equal(codeOf(long), 'envelope-too-large');
  const crowded = signEnvelope(note, [...both, ...both, ...both, ...both, first.signing]);
  assert.equal(codeOf(crowded), 'envelope-too-large');
});

test('a signed payload that is nested beyond reason is refused, never thrown', () => {
  const bytes = Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  const sig = sign(null, preAuthEncoding(PAYLOAD_TYPE, bytes), first.signing.privateKey).toString('base64');
  const signatures = [{ keyid: first.signing.keyId, sig }];
  const envelope = { payloadType: PAYLOAD_TYPE, payload: bytes.toString('base64'), signatures };
  assert.equal(codeOf(envelope, { keys: [first.verification] }), 'envelope-malformed');
});
