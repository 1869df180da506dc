import {
  canonicalJson,
  DIGEST_PATTERN,
  type Digest,
  digestJson,
  type Outcome,
  ok,
  refusal,
  refused,
} from '@idunn/kernel';
import { z } from 'zod';
import { completeness, completenessSchema, dumpReportSchema } from '../data/report.ts';

export const BUNDLE_VERSION = 'idunn.bundle/v1';

const digest = z
  .string()
  .regex(DIGEST_PATTERN)
  .transform((text) => text as Digest);

const bodySchema = z.strictObject({
  schema: z.literal(BUNDLE_VERSION),
  sourceSlot: z.string().min(1),
  takenAtMs: z.number(),
  /** What the data is, in the application's own words. */
  app: z.string(),
  ...dumpReportSchema.shape,
  completeness: completenessSchema,
  archive: z.strictObject({
    format: z.literal('tar+zstd'),
    /** The archive file as it lies beside this manifest. */
    bytes: z.int().min(0),
    digest,
    /** What is in it. */
    entries: z.int().min(0),
    contentBytes: z.int().min(0),
    rootDigest: digest,
  }),
});

export const bundleManifestSchema = bodySchema.extend({ digest });
export type BundleManifest = z.infer<typeof bundleManifestSchema>;

/** Beside the archive and not in it: a manifest cannot describe an archive that it is part of. */
export const manifestPath = (bundle: string): string => `${bundle}.json`;

/** The manifest with the digest of all that it says. */
export const sealedManifest = (body: z.infer<typeof bodySchema>): BundleManifest => ({
  ...body,
  digest: digestJson(body),
});

export const manifestText = (manifest: BundleManifest): string => `${canonicalJson(manifest)}\n`;

/** Reads a manifest back. One of another version, or whose verdict is not that of its parts, is refused. */
export function parseManifest(text: string, file: string): Outcome<BundleManifest> {
  const json = parsed(text);
  const version = typeof json === 'object' && json !== null && 'schema' in json ? json.schema : undefined;
  if (typeof version === 'string' && version !== BUNDLE_VERSION) {
    return refused(
      refusal('bundle-version-unknown', `${file} is of the version ${version}; this reads ${BUNDLE_VERSION}.`),
    );
  }
  const read = bundleManifestSchema.safeParse(json);
  if (!read.success) return unreadable(file, 'it is no manifest of a bundle');
  const { digest: stated, ...body } = read.data;
  if (digestJson(body) !== stated) return unreadable(file, 'it is not what was written');
  if (canonicalJson(completeness(body.parts)) !== canonicalJson(body.completeness)) {
    return unreadable(file, 'its verdict is not that of its parts');
  }
  return ok(read.data);
}

const unreadable = (file: string, because: string): Outcome<never> =>
  refused(refusal('bundle-unreadable', `The manifest ${file} cannot be used: ${because}.`));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
