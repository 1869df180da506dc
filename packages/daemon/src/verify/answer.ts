import type { WorkloadPort } from '@idunn/authority';
import type { DossierAnswer } from '@idunn/client';
import { releaseDirectory } from '@idunn/release';
import type { Dossier } from './dossier.ts';

/** A dossier as the API tells it, with the process as it is observed at this moment. */
export async function dossierAnswer(
  { record, plan, body, ready }: Dossier,
  releases: string,
  workload: Pick<WorkloadPort, 'observe'>,
): Promise<DossierAnswer> {
  const { incarnation, transaction, release, sealedAt } = record;
  const answer: Pick<DossierAnswer, 'incarnation' | 'transaction' | 'sealedAt' | 'directory' | 'receipt'> = {
    incarnation,
    transaction,
    sealedAt: new Date(sealedAt.wallMs).toISOString(),
    directory: releaseDirectory(releases, release.release),
    receipt: ready?.receipt ?? null,
  };
  return {
    ...answer,
    plan: plan as unknown as DossierAnswer['plan'],
    release: release as unknown as DossierAnswer['release'],
    process: body === null ? null : await processAnswer(body, workload),
  };
}

async function processAnswer(
  { handle, release, document }: NonNullable<Dossier['body']>,
  workload: Pick<WorkloadPort, 'observe'>,
): Promise<NonNullable<DossierAnswer['process']>> {
  const { pid, startTime, controlGroup } = handle.identity;
  const seen = await workload.observe(handle, release);
  const runtime = seen.kind === 'seen' ? seen.value : null;
  return {
    observed: seen.kind,
    because: seen.kind === 'unknown' ? seen.because : null,
    pid,
    startTime,
    controlGroup,
    executable: runtime?.executable ?? null,
    argv: runtime?.argv ?? null,
    entry: runtime?.entry?.digest ?? null,
    endpoint: document.endpoint,
  };
}
