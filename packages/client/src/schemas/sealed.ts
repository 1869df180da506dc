import { z } from 'zod';
import { digest, incarnationKey, instant } from './common.ts';
import { plan } from './plan.ts';

/** One thing that was looked at anew. `unknown` is what could not be looked at, never a pass (I10). */
export const verifyCheck = z.object({
  check: z.string(),
  verdict: z.enum(['ok', 'differs', 'unknown']),
  /** What was seen, or why nothing was. */
  detail: z.string(),
});

/** What is admitted, checked again from the commit to the running process. */
export const verify = z.object({
  schema: z.literal('idunn.verify/v1'),
  target: z.string(),
  incarnation: incarnationKey,
  release: digest,
  revision: z.string(),
  /** The worst of the checks: `differs`, else `unknown`, else `ok`. */
  verdict: verifyCheck.shape.verdict,
  checks: z.array(verifyCheck),
});

/** The completion record of an installed release, as sealing wrote it. */
export const sealedRelease = z.object({
  schema: z.literal('idunn.sealed-release/v1'),
  target: z.string(),
  release: digest,
  build: digest,
  plan: digest,
  bindingDigest: digest,
  launchDigest: digest,
  revision: z.string(),
  executableDigest: digest,
  entry: z.object({ artifact: z.string(), path: z.string(), digest }).nullable(),
  artifacts: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(['file', 'directory']),
      digest,
      files: z.array(
        z.object({
          path: z.string(),
          digest,
          bytes: z.int(),
          executable: z.boolean(),
          link: z.string().exactOptional(),
        }),
      ),
    }),
  ),
  /** Digest of the signed provenance statement beside the release. */
  provenance: digest,
  /** Key id of the builder. */
  sealedBy: z.string(),
});

/** The process of an admitted incarnation as its driver observes it at the moment. */
export const observedProcess = z.object({
  observed: z.enum(['seen', 'absent', 'unknown']),
  /** Why it is unknown; `null` otherwise. */
  because: z.string().nullable(),
  pid: z.int(),
  startTime: z.string(),
  controlGroup: z.string().nullable(),
  executable: digest.nullable(),
  argv: digest.nullable(),
  entry: digest.nullable(),
  endpoint: z.object({ host: z.string(), port: z.int() }).nullable(),
});

/** Everything that is on record about one incarnation. */
export const dossier = z.object({
  incarnation: incarnationKey,
  transaction: z.string(),
  sealedAt: instant,
  /** Where the release is installed, on the daemon's machine. */
  directory: z.string(),
  plan,
  release: sealedRelease,
  /** `null` when it is not the admitted incarnation. */
  process: observedProcess.nullable(),
  /** The observer's receipt that it was admitted on; `null` when it is not the admitted incarnation. */
  receipt: z.string().nullable(),
});

export type VerifyCheck = z.infer<typeof verifyCheck>;
export type Verify = z.infer<typeof verify>;
export type SealedReleaseAnswer = z.infer<typeof sealedRelease>;
export type ObservedProcessAnswer = z.infer<typeof observedProcess>;
export type DossierAnswer = z.infer<typeof dossier>;
