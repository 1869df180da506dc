import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineApi } from '@idunn/authority';
import type { Verify } from '@idunn/client';
import { type KeyRecord, type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import { type AuditCheck, auditInThread, releaseDirectory } from '@idunn/release';
import type { Drivers } from '../drivers.ts';
import { authorityChecks, readyCheck } from './authorities.ts';
import { admittedDossier, type Dossier, type Records } from './dossier.ts';
import { type FilePlace, runtimeChecks } from './runtime.ts';
import { sourceChecks } from './source.ts';

/** Verifications that run side by side; each reads every byte of a release. */
const AT_ONCE = 2;
const LIMIT_MS = 10 * 60_000;

export interface VerifierParts {
  readonly store: Records;
  readonly engine: Pick<EngineApi, 'target'>;
  readonly drivers: Pick<Drivers, 'workload' | 'source'>;
  readonly releases: string;
  readonly timers: Timers;
  /** The fleet's authority keys, retired ones too. */
  readonly authorityKeys: readonly KeyRecord[];
  /** Raw, base64; `null` when it cannot be read. */
  readonly observerPublicKey: () => Promise<string | null>;
}

export type Verifier = (
  target: string,
  options: { readonly source: boolean },
  signal: AbortSignal,
) => Promise<Outcome<Verify>>;

/** Re-checks what is admitted, from the commit to the running process. It changes nothing. */
export function createVerifier(parts: VerifierParts): Verifier {
  let running = 0;
  return async (target, options, gone) => {
    if (running >= AT_ONCE) {
      return refused(refusal('verify-busy', `${running} verifications are at work already.`));
    }
    running += 1;
    const limit = new AbortController();
    const stopLimit = parts.timers.after(LIMIT_MS, () => limit.abort());
    try {
      return await verify(parts, target, options, AbortSignal.any([gone, limit.signal]));
    } finally {
      stopLimit();
      running -= 1;
    }
  };
}

async function verify(
  parts: VerifierParts,
  target: string,
  { source }: { readonly source: boolean },
  signal: AbortSignal,
): Promise<Outcome<Verify>> {
  const [dossier, view] = await Promise.all([admittedDossier(parts.store, target), parts.engine.target(target)]);
  if (dossier === null || dossier.body === null || view === null) {
    return refused(refusal('nothing-admitted', `Nothing of ${target} is admitted, so there is nothing to verify.`));
  }
  const { record, plan, body } = dossier;
  const directory = releaseDirectory(parts.releases, body.release);
  const audit = {
    directory,
    release: body.release,
    plan,
    keys: parts.authorityKeys,
    sealedAtMs: record.sealedAt.wallMs,
  };
  const [bytes, observed, place, origin, observer] = await Promise.all([
    auditInThread(audit, signal),
    parts.drivers.workload.observe(body.handle, body.release),
    entryPlace(directory, dossier),
    source ? sourceChecks(plan, parts.drivers.source, signal) : [],
    parts.observerPublicKey(),
  ]);
  const checks: AuditCheck[] = [
    ...origin,
    incarnationCheck(dossier),
    ...bytes,
    ...runtimeChecks(dossier, observed, place),
    ...authorityChecks(dossier, view),
    ...readyCheck(dossier, observer),
  ];
  return ok({
    schema: 'idunn.verify/v1',
    target,
    incarnation: body.incarnation,
    release: body.release,
    revision: body.revision,
    verdict: verdictOf(checks),
    checks,
  });
}

/** The worst of them: a difference outweighs what could not be seen, and that outweighs what is well. */
function verdictOf(checks: readonly AuditCheck[]): AuditCheck['verdict'] {
  const has = (wanted: AuditCheck['verdict']): boolean => checks.some(({ verdict }) => verdict === wanted);
  return has('differs') ? 'differs' : has('unknown') ? 'unknown' : 'ok';
}

/** What was published, what was sealed and what was admitted are about one release. */
function incarnationCheck({ record, body }: Dossier): AuditCheck {
  const { expected, release } = record;
  const check = 'incarnation';
  const wrong = [
    ...(expected.release === release.release ? [] : [`Expected is about ${expected.release}`]),
    ...(body?.release === release.release ? [] : [`what is admitted is ${body?.release}`]),
    ...(expected.plan === record.plan ? [] : [`Expected is under plan ${expected.plan}`]),
    ...(expected.runtime.executable === release.executableDigest ? [] : ['Expected names another executable']),
  ];
  return wrong.length === 0
    ? { check, verdict: 'ok', detail: record.incarnation }
    : { check, verdict: 'differs', detail: `${wrong.join('; ')}; sealed is ${release.release}` };
}

async function entryPlace(directory: string, { record: { release } }: Dossier): Promise<FilePlace> {
  if (release.entry === null) return null;
  try {
    const { dev, ino } = await stat(join(directory, release.entry.artifact, release.entry.path), { bigint: true });
    return { device: String(dev), inode: String(ino) };
  } catch {
    return null;
  }
}
