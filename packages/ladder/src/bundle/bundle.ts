import { readFile } from 'node:fs/promises';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { type Completeness, completeness, type DumpReport } from '../data/report.ts';
import { createFile, DraftDirectory, discardFile, exists, publish, writeWhole } from './files.ts';
import {
  BUNDLE_VERSION,
  type BundleManifest,
  manifestPath,
  manifestText,
  parseManifest,
  sealedManifest,
} from './manifest.ts';
import { type Packed, type Progress, packInto } from './pack.ts';
import { RefusedError } from './refused-error.ts';
import { NOWHERE, unpack } from './unpack.ts';

export interface SealRequest {
  /** The directory that a dump filled. Everything in it is sealed. */
  readonly staging: string;
  /** The archive to be made; its manifest comes beside it. Neither may be there yet. */
  readonly bundle: string;
  readonly sourceSlot: string;
  readonly takenAtMs: number;
  /** What the data is: `AppData.describe()`. */
  readonly app: string;
  readonly report: DumpReport;
  readonly progress?: Progress;
}

/** Seals a directory into a bundle. A bundle is there when its manifest is: that is written last (F27). */
export async function seal(request: SealRequest): Promise<Outcome<BundleManifest>> {
  const { bundle, staging, sourceSlot, takenAtMs, app, report } = request;
  return answered(bundle, async () => {
    for (const path of [bundle, manifestPath(bundle)]) {
      if (await exists(path)) return refused(refusal('bundle-exists', `${path} is there already.`));
    }
    const archive = await sealArchive(`${bundle}.partial`, staging, request.progress);
    await publish(`${bundle}.partial`, bundle);
    const manifest = sealedManifest({
      schema: BUNDLE_VERSION,
      sourceSlot,
      takenAtMs,
      app,
      parts: [...report.parts],
      watermark: report.watermark,
      appMeta: report.appMeta as BundleManifest['appMeta'],
      completeness: completeness(report.parts) as BundleManifest['completeness'],
      archive: { format: 'tar+zstd', ...archive },
    });
    await writeWhole(manifestPath(bundle), manifestText(manifest));
    return ok(manifest);
  });
}

async function sealArchive(draft: string, staging: string, progress?: Progress): Promise<Packed> {
  await discardFile(draft);
  const file = await createFile(draft);
  try {
    const packed = await packInto(file, staging, progress);
    await file.sync();
    return packed;
  } catch (error) {
    await discardFile(draft);
    throw error;
  } finally {
    await file.close();
  }
}

/** Two questions that must not be one: whether the bytes are what was sealed, and whether what was sealed was whole. */
export interface VerifyReport {
  readonly manifest: BundleManifest;
  /** Why the bytes are not what was sealed; empty when they are. */
  readonly problems: readonly string[];
  readonly intact: boolean;
  readonly completeness: Completeness;
  /** Intact, and the capture was whole. */
  readonly usable: boolean;
}

/** Reads a bundle to its end and writes nothing. */
export async function verify(bundle: string, progress?: Progress): Promise<Outcome<VerifyReport>> {
  const manifest = await loadManifest(bundle);
  if (!manifest.ok) return manifest;
  return answered(bundle, async () =>
    ok(reportOf(manifest.value, await unpack(bundle, manifest.value, NOWHERE, progress))),
  );
}

/** What may be unsealed beside a bundle that is intact and whole. The verdict comes back all the same. */
export interface LoadPolicy {
  readonly acceptIncomplete?: boolean;
  readonly acceptCorrupt?: boolean;
}

export interface Unsealed extends VerifyReport {
  readonly directory: string;
}

/**
 * Unseals a bundle into a directory that is not there yet. It is filled beside its place and takes it only when the
 * policy accepts what came out; else nothing is left of it. No policy accepts an entry that would leave the
 * directory.
 */
export async function unseal(
  bundle: string,
  directory: string,
  policy: LoadPolicy = {},
  progress?: Progress,
): Promise<Outcome<Unsealed>> {
  const manifest = await loadManifest(bundle);
  if (!manifest.ok) return manifest;
  const verdict = manifest.value.completeness;
  if (verdict.kind !== 'complete' && policy.acceptIncomplete !== true) return refusedIncomplete(bundle, verdict);
  return answered(bundle, async () => {
    if (await exists(directory)) return refused(refusal('bundle-destination-taken', `${directory} is there already.`));
    const draft = await DraftDirectory.begin(directory);
    try {
      const report = reportOf(manifest.value, await unpack(bundle, manifest.value, draft, progress));
      if (!report.intact && policy.acceptCorrupt !== true) {
        const { problems } = report;
        const reason = `${bundle} is not what was sealed: ${problems.join('; ')}.`;
        throw new RefusedError(refusal('bundle-corrupt', reason, { detail: { problems } }));
      }
      await draft.commit();
      return ok({ ...report, directory });
    } catch (error) {
      await draft.discard();
      throw error;
    }
  });
}

/** The manifest beside a bundle, checked by itself; the archive is not looked at. */
export async function loadManifest(bundle: string): Promise<Outcome<BundleManifest>> {
  const file = manifestPath(bundle);
  const text = await readFile(file, 'utf8').catch((error: Error) => error);
  if (typeof text === 'string') return parseManifest(text, file);
  return refused(refusal('bundle-unreadable', `The manifest ${file} cannot be read: ${text.message}.`));
}

function reportOf(manifest: BundleManifest, problems: readonly string[]): VerifyReport {
  const intact = problems.length === 0;
  const verdict = manifest.completeness;
  return { manifest, problems, intact, completeness: verdict, usable: intact && verdict.kind === 'complete' };
}

function refusedIncomplete(bundle: string, verdict: Completeness): Outcome<never> {
  const what =
    verdict.kind === 'incomplete'
      ? `these parts are missing: ${verdict.parts.join(', ')}`
      : 'nobody knows whether it is whole';
  return refused(refusal('bundle-incomplete', `${bundle} is not whole: ${what}.`));
}

/** Refusals and faults of the disk as answers. */
async function answered<T>(bundle: string, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError) return refused(error.refusal);
    if (error instanceof Error && 'syscall' in error) {
      return refused(refusal('bundle-io-failed', `Reading or writing for ${bundle} failed: ${error.message}.`));
    }
    throw error;
  }
}
