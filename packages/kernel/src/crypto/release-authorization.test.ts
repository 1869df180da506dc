import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signEnvelope } from './envelope.ts';
import { freshSeed, publicKeyOf, signingKeyFromSeed, verificationKey } from './keys.ts';
import {
  authorizationSpan,
  openReleaseAuthorization,
  type ReleaseAuthorization,
  signReleaseAuthorization,
} from './release-authorization.ts';

const signer = () => {
  const signing = signingKeyFromSeed(freshSeed());
  return { signing, verification: verificationKey(publicKeyOf(signing.privateKey)) };
};
const ada = signer();
const ben = signer();
const words = {
  fleet: 'alpha',
  target: 'ghostlight',
  commit: 'd'.repeat(40),
  build: null,
  notBeforeMs: 1_000,
  notAfterMs: 2_000,
  sequence: 3,
  requestId: 'req-1',
};
const want = { keys: [ada.verification, ben.verification], fleet: 'alpha', target: 'ghostlight' };
const codeOf = (envelope: unknown, more: Partial<typeof want> = {}): string => {
  const opened = openReleaseAuthorization({ ...want, ...more, envelope });
  return opened.ok ? 'opened' : opened.refusal.code;
};

test('any one of the authorizers may sign, and who it was is told', () => {
  for (const { signing, verification } of [ada, ben]) {
    const opened = openReleaseAuthorization({ ...want, envelope: signReleaseAuthorization(words, signing) });
    assert.ok(opened.ok);
    assert.equal(opened.value.key.keyId, verification.keyId);
    assert.equal(opened.value.payload.commit, words.commit);
    assert.match(opened.value.digest, /^sha256:/);
  }
});

test('I5: for another fleet, another target or by another key it is worth nothing', () => {
  const envelope = signReleaseAuthorization(words, ada.signing);
  assert.equal(codeOf(envelope, { fleet: 'beta' }), 'envelope-wrong-audience');
  assert.equal(codeOf(envelope, { target: 'almanac' }), 'envelope-wrong-subject');
  assert.equal(codeOf(envelope, { keys: [ben.verification] }), 'authorization-key-unknown');
  assert.equal(codeOf(envelope, { keys: [] }), 'authorization-key-unknown');
  // Another kind of statement by the same key is none.
  const payload = JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as ReleaseAuthorization;
  const other = { ...payload, header: { ...payload.header, schema: 'idunn.presence/v1' } };
  assert.equal(codeOf(signEnvelope(other, [ada.signing])), 'envelope-wrong-schema');
  assert.equal(codeOf(signEnvelope({ ...payload, commit: 'main' }, [ada.signing])), 'envelope-malformed');
  assert.equal(codeOf(signReleaseAuthorization({ ...words, notAfterMs: 1_000 }, ada.signing)), 'envelope-malformed');
  assert.equal(codeOf({ ...envelope, payload: Buffer.from('{}').toString('base64') }), 'authorization-key-unknown');
});

test('it may be planned by within its span and not outside', () => {
  const opened = openReleaseAuthorization({ ...want, envelope: signReleaseAuthorization(words, ada.signing) });
  assert.ok(opened.ok);
  const at = (wallMs: number): string => {
    const span = authorizationSpan(opened.value.payload, wallMs);
    return span.ok ? span.value : span.refusal.code;
  };
  assert.deepEqual([999, 1_000, 1_999, 2_000].map(at), [
    'authorization-not-yet-valid',
    'valid',
    'valid',
    'authorization-expired',
  ]);
});
