import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson, digestBytes, usableKey, verifyEnvelope } from '@idunn/kernel';
import { PROVENANCE } from '../adapters/release-store.ts';
import type { SealedRelease } from '../model/sealed-release.ts';
import { IN_TOTO_PAYLOAD_TYPE, observationsOf, provenanceStatement } from '../seal/provenance.ts';
import { type AuditCheck, differs, good, unread, unseen } from './check.ts';
import type { AuditRequest } from './request.ts';

/** The signed statement: its bytes, its signature by the key that was in force then, and what it states. */
export async function auditProvenance(
  { directory, plan, keys, sealedAtMs }: AuditRequest,
  { provenance, sealedBy, artifacts }: SealedRelease,
): Promise<AuditCheck[]> {
  const file = join(directory, PROVENANCE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return [unread('provenance', error, `${file} is not there`)];
  }
  const digest = digestBytes(text);
  const bytes =
    digest === provenance
      ? good('provenance', `${file} is ${digest}`)
      : differs('provenance', `${file} is ${digest}, and ${provenance} was sealed`);
  const key = keys.find(({ keyId }) => keyId === sealedBy);
  if (key === undefined) {
    return [bytes, unseen('provenance signature', `the key ${sealedBy} that sealed it is not kept here`)];
  }
  const usable = usableKey(key, 'authority', { kind: 'history', madeAtMs: sealedAtMs });
  if (!usable.ok) return [bytes, differs('provenance signature', usable.refusal.reason)];
  const opened = verifyEnvelope({
    envelope: parsed(text),
    keys: [usable.value],
    payloadType: IN_TOTO_PAYLOAD_TYPE,
  });
  if (!opened.ok) return [bytes, differs('provenance signature', opened.refusal.reason)];
  const { bytes: signed, payload } = opened.value;
  const stated = provenanceStatement(plan, artifacts, observationsOf(payload, plan));
  const same = signed.toString('utf8') === canonicalJson(stated);
  return [
    bytes,
    good('provenance signature', `by ${sealedBy}, in force when it was sealed`),
    same
      ? good('provenance statement', 'it states this plan, these inputs and these artifacts')
      : differs('provenance statement', 'it was signed, and states something else than this plan and these artifacts'),
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
