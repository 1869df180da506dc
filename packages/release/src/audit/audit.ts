import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, digestJson } from '@idunn/kernel';
import { digestFile } from '../adapters/files.ts';
import { PROVENANCE, RECORD } from '../adapters/release-store.ts';
import { verifyAuthorization } from '../authorization/frozen.ts';
import type { Plan } from '../model/plan.ts';
import type { SealedRelease } from '../model/sealed-release.ts';
import { planDigest } from '../plan/compile.ts';
import { readReleaseRecord } from '../seal/record.ts';
import { buildDigest } from '../seal/seal.ts';
import { auditArtifact } from './artifact.ts';
import { type AuditCheck, differs, good, unread } from './check.ts';
import { auditProvenance } from './provenance.ts';
import type { AuditRequest } from './request.ts';

/**
 * Re-checks an installed release from its bytes (I2): nothing is taken from a memory of earlier readings, and the plan
 * is the authority's own record. It only reads.
 */
export async function auditRelease(request: AuditRequest): Promise<readonly AuditCheck[]> {
  const { directory, release, plan } = request;
  const name = 'completion record';
  let text: string;
  try {
    text = await readFile(join(directory, RECORD), 'utf8');
  } catch (error) {
    return [unread(name, error, `${join(directory, RECORD)} is not there: the release is not installed`)];
  }
  const record = readReleaseRecord(text);
  if (record === null || record.release !== release) {
    const found = record === null ? 'is no completion record' : `is the record of ${record.release}`;
    return [differs(name, `${join(directory, RECORD)} ${found}, and not that of ${release}`)];
  }
  return [
    good(name, `${release}, sealed by ${record.sealedBy}`),
    ...auditSeal(record, plan),
    ...(await auditProvenance(request, record)),
    ...(await Promise.all(record.artifacts.map((artifact) => auditArtifact(directory, artifact)))),
    await auditDirectory(directory, record),
    ...(await auditInterpreter(plan)),
  ];
}

/** What follows from record and plan alone. */
function auditSeal(record: SealedRelease, plan: Plan): AuditCheck[] {
  const same = (check: string, recorded: Digest, computed: Digest, of: string): AuditCheck =>
    recorded === computed
      ? good(check, `${computed}, recomputed from ${of}`)
      : differs(check, `recorded as ${recorded}, and ${of} comes to ${computed}`);
  return [
    same('plan', record.plan, planDigest(plan), 'the plan on record'),
    same('build', record.build, buildDigest(plan, record.artifacts), 'source, recipe, inputs, steps and artifacts'),
    same('launch contract', record.launchDigest, digestJson(plan.launch), 'the plan on record'),
    ...auditAuthorization(plan),
  ];
}

/** By whose word the commit was selected, from the envelope that the plan froze. */
function auditAuthorization(plan: Plan): AuditCheck[] {
  const { authorization } = plan.source;
  if (authorization === null) return [];
  const check = 'release authorization';
  const proven = verifyAuthorization(plan);
  return [
    proven.ok
      ? good(check, `${authorization.digest}, signed by ${authorization.keyId}`)
      : differs(check, proven.refusal.reason),
  ];
}

/** Nothing lies in the directory that was not put there by sealing. */
async function auditDirectory(directory: string, { artifacts }: SealedRelease): Promise<AuditCheck> {
  const check = 'release directory';
  const known = new Set([RECORD, PROVENANCE, ...artifacts.map(({ id }) => id)]);
  try {
    const foreign = (await readdir(directory)).filter((name) => !known.has(name));
    return foreign.length === 0
      ? good(check, `${directory} holds what was sealed and nothing else`)
      : differs(check, `${foreign.slice(0, 5).join(', ')} does not belong to it`);
  } catch (error) {
    return unread(check, error, `${directory} is not there`);
  }
}

/** The host's interpreter is outside the release: it is read anew. A sealed one is an artifact like any other. */
async function auditInterpreter({ launch: { program } }: Plan): Promise<AuditCheck[]> {
  if (program.kind !== 'interpreter' || program.origin !== 'host') return [];
  const check = 'interpreter';
  try {
    const digest = await digestFile(await realpath(program.path));
    return [
      digest === program.digest
        ? good(check, `${program.path} is ${digest}`)
        : differs(check, `${program.path} is ${digest} now, and ${program.digest} was sealed`),
    ];
  } catch (error) {
    return [unread(check, error, `${program.path} is not there any more`)];
  }
}
