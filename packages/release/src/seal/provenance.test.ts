import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestBytes, publicKeyOf, signingKeyFromSeed, verificationKey, verifyEnvelope } from '@idunn/kernel';
import type { Plan } from '../model/plan.ts';
import { examplePlan, valueOf } from '../testing/documents.ts';
import {
  IN_TOTO_PAYLOAD_TYPE,
  NOTHING_OBSERVED,
  observationsOf,
  provenanceStatement,
  signedProvenance,
} from './provenance.ts';

const compiled = examplePlan();
const plan: Plan = {
  ...compiled,
  runners: Object.fromEntries(
    Object.entries(compiled.runners).map(([name, grant]) => [name, { ...grant, lockfile: 'package-lock.json' }]),
  ),
};
const key = signingKeyFromSeed(Buffer.alloc(32, 3).toString('base64'));

test('what was seen while it was built is read back from the signed statement, and nothing else is', () => {
  for (const observed of [
    NOTHING_OBSERVED,
    {
      lockfiles: { 'package-lock.json': digestBytes('lock') },
      contacted: { compile: ['registry.example.test:443'] },
      carried: digestBytes('provenance'),
    },
  ]) {
    const envelope: unknown = JSON.parse(signedProvenance(plan, [], key, observed));
    const keys = [verificationKey(publicKeyOf(key.privateKey))];
    const { payload } = valueOf(verifyEnvelope({ envelope, keys, payloadType: IN_TOTO_PAYLOAD_TYPE }));
    const read = observationsOf(payload, plan);
    assert.deepEqual(read, observed);
    assert.deepEqual(provenanceStatement(plan, [], read), payload);
  }
  assert.deepEqual(observationsOf({ predicate: 'none' }, plan), NOTHING_OBSERVED);
});
