import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readLaunchDocument } from './launch/document.ts';
import { signPresence } from './presence/presence.ts';
import { ACTIVATION_KEY, SIGNER_KEY, STRANGER_KEY } from './testing/authority.ts';
import { converse, PID, VECTORS, type Vectors } from './testing/vectors.ts';
import { signEnvelope, signedBy } from './words/envelope.ts';

const vectors = JSON.parse(readFileSync(VECTORS, 'utf8')) as Vectors;

test('the golden launch document is read, and one signed by another key is not', () => {
  const launch = readLaunchDocument(vectors.launch);
  assert.equal(launch.target, 'world');
  assert.deepEqual(
    launch.state?.stores.map((store) => store.id),
    ['journal', 'ledger'],
  );
  assert.deepEqual(launch.secrets, ['api-token']);
  const payload: unknown = JSON.parse(Buffer.from(vectors.launch.payload, 'base64').toString('utf8'));
  assert.throws(() => readLaunchDocument(signEnvelope(payload, [STRANGER_KEY])), /signed by the authority/);
});

test('I4: golden presences come out byte for byte, signed by the activation and by the service', () => {
  const speaker = { ...readLaunchDocument(vectors.launch), pid: PID, keys: [ACTIVATION_KEY, SIGNER_KEY] as const };
  assert.equal(vectors.presences.length, 2);
  for (const { word, sequence, envelope } of vectors.presences) {
    assert.deepEqual(signPresence(speaker, word, sequence), envelope);
    assert.ok(signedBy(envelope, ACTIVATION_KEY.publicKey) && signedBy(envelope, SIGNER_KEY.publicKey));
    assert.deepEqual(
      envelope.signatures.map((signature) => signature.keyid),
      [ACTIVATION_KEY.keyId, SIGNER_KEY.keyId],
    );
  }
});

test('the golden conversation on the channel comes out byte for byte', () => {
  const { turns } = vectors.channel;
  const authority = turns.filter((turn) => turn.from === 'authority').map((turn) => turn.message);
  assert.deepEqual(converse(vectors.launch, authority), turns);
  assert.deepEqual(
    turns.filter((turn) => turn.from === 'program').map((turn) => turn.message.type),
    ['proof', 'granted', 'echoed', 'relinquished', 'withdrawn', 'relinquished', 'granted', 'first-write'],
  );
});
