import { DIGEST_PATTERN, type Digest } from '@idunn/kernel';
import { z } from 'zod';
import type { SealedRelease } from '../model/sealed-release.ts';
import { releaseDigest } from './seal.ts';

const digest = z
  .string()
  .regex(DIGEST_PATTERN)
  .transform((text) => text as Digest);
const file = z.strictObject({
  path: z.string(),
  digest,
  bytes: z.int().min(0),
  executable: z.boolean(),
  link: z.string().exactOptional(),
});
/** An artifact with its files, as records carry it. */
export const sealedArtifactSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(['file', 'directory']),
  digest,
  files: z.array(file),
});

const record = z.strictObject({
  schema: z.literal('idunn.sealed-release/v1'),
  target: z.string(),
  release: digest,
  build: digest,
  plan: digest,
  bindingDigest: digest,
  launchDigest: digest,
  revision: z.string(),
  executableDigest: digest,
  entry: z.strictObject({ artifact: z.string(), path: z.string(), digest }).nullable(),
  artifacts: z.array(sealedArtifactSchema),
  provenance: digest,
  sealedBy: z.string(),
});

/** A completion record from its bytes; `null` unless its shape is known and it carries its own digest. */
export function readReleaseRecord(text: string): SealedRelease | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = record.safeParse(json);
  return parsed.success && releaseDigest(parsed.data) === parsed.data.release ? parsed.data : null;
}
