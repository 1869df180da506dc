import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { canonicalJson, type Digest, digestJson, openEnvelope, signEnvelope } from '@idunn/kernel';
import type { PresentStatement, ReadyReceipt } from './model/presence.ts';
import {
  activationSchema,
  expectedSchema,
  presenceSchema,
  presentStatementSchema,
  readyReceiptSchema,
} from './model/schemas.ts';
import {
  activation,
  activationKey,
  audience,
  expected,
  key,
  observerKey,
  samplePresence,
  signerKey,
  verifierOf,
} from './testing/samples.ts';

// Golden files are never edited: what is written today is read and verified for as long as version 1 is.

const golden = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'golden', `${name}.v1.json`), 'utf8'));

const header = (schema: string) => ({
  schema,
  issuer: observerKey.keyId,
  audience,
  subject: key,
  requestId: 'statement-9',
  sequence: 9,
});

const correlated = {
  incarnation: key,
  activation: activation.activation,
  epoch: 7,
  presenceSequence: 1,
  presence: digestJson(samplePresence()),
};

const statement: PresentStatement = {
  header: header('idunn.present/v1'),
  ...correlated,
  state: 'active',
  fresh: true,
  disagreements: [{ code: 'runtime-identity-mismatch', detail: 'the presence says pid 1, the driver observed 2' }],
};

const receipt: ReadyReceipt = { header: header('idunn.ready/v1'), ...correlated };

test('golden: Expected and its key', () => {
  assert.deepEqual(golden('expected'), expected);
  assert.deepEqual(expectedSchema.parse(golden('expected')), expected);
  const pinned: Digest = 'sha256:5f0219b2fd30db438dc5b4741a4e6628d3b6ee34ed101870fb850800ec6aff00';
  assert.equal(key, `ghostlight@${pinned}`);
});

test('golden: Activation', () => {
  assert.deepEqual(activationSchema.parse(golden('activation')), activation);
});

test('golden: Presence, PresentStatement and ReadyReceipt open with the keys that signed them', () => {
  const rows = [
    ['presence', samplePresence(), [activationKey, signerKey], presenceSchema],
    ['present-statement', statement, [observerKey], presentStatementSchema],
    ['ready-receipt', receipt, [observerKey], readyReceiptSchema],
  ] as const;
  for (const [name, payload, keys, shape] of rows) {
    const envelope = golden(name);
    assert.equal(canonicalJson(envelope), canonicalJson(signEnvelope(payload, keys)), name);
    const opened = openEnvelope<{ readonly header: typeof payload.header }>({
      envelope,
      keys: keys.map(verifierOf),
      schema: payload.header.schema,
      shape,
      audience,
    });
    assert.ok(opened.ok, name);
    assert.deepEqual(opened.value.payload, payload);
  }
});
