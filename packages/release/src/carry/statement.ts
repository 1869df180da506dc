import {
  DIGEST_PATTERN,
  type Digest,
  digestJson,
  type Envelope,
  headerSchema,
  type Outcome,
  ok,
  openEnvelope,
  refusal,
  refused,
  type SigningKey,
  signEnvelope,
  type VerificationKey,
} from '@idunn/kernel';
import { z } from 'zod';
import type { BuildContent } from '../seal/seal.ts';

export const BUILD_EXPORT = 'idunn.build-export/v1';
/** What a build is holds in every fleet; which of them may deploy it, its own authorizer says. */
const ANYWHERE = { fleet: '*', machine: '*' } as const;

const digest = z
  .string()
  .regex(DIGEST_PATTERN)
  .transform((text) => text as Digest);
const text = z.string().max(4_096);

const contentSchema = z.strictObject({
  schema: z.literal('idunn.build/v1'),
  source: z.strictObject({ objectFormat: text, commit: text, tree: text }),
  recipe: z.strictObject({ path: text, digest }),
  inputs: z.array(z.strictObject({ id: text, sha256: digest })),
  steps: z.array(z.strictObject({ id: text, stage: text, profile: text, argv: z.array(z.string()), cwd: text })),
  artifacts: z.array(z.strictObject({ id: text, kind: z.enum(['file', 'directory']), digest })),
}) satisfies z.ZodType<BuildContent>;

/** What a fleet says about a build that it sealed: its content, by which the digest proves itself. */
export const buildExportSchema = z.strictObject({
  header: headerSchema,
  build: digest,
  /** The target that was sealed from it there; in another fleet it may have another name. */
  target: text,
  content: contentSchema,
  /** Over the bytes of the provenance that goes with it. */
  provenance: digest,
});
export type BuildExport = z.infer<typeof buildExportSchema>;

export function signBuildExport(
  words: { readonly target: string; readonly content: BuildContent; readonly provenance: Digest },
  key: SigningKey,
): Envelope {
  const build = digestJson(words.content);
  const header = {
    schema: BUILD_EXPORT,
    issuer: key.keyId,
    audience: ANYWHERE,
    subject: build,
    requestId: build,
    sequence: 0,
  };
  return signEnvelope({ header, build, ...words }, [key]);
}

/** Opens an export by whichever of the admitted builders signed it, and recomputes the build from its content (I2). */
export function openBuildExport(envelope: unknown, builders: readonly VerificationKey[]): Outcome<BuildExport> {
  const build = statementOf(envelope)?.build ?? '';
  for (const key of builders) {
    const opened = openEnvelope({
      envelope,
      keys: [key],
      schema: BUILD_EXPORT,
      shape: buildExportSchema,
      audience: ANYWHERE,
      subject: build,
    });
    if (!opened.ok && opened.refusal.code === 'envelope-not-signed') continue;
    if (!opened.ok) return opened;
    const { payload } = opened.value;
    if (digestJson(payload.content) === payload.build && payload.build === build) return ok(payload);
    return refused(refusal('build-export-altered', `The export of ${payload.build} is of another content.`));
  }
  return refused(refusal('builder-unknown', `None of ${builders.length} admitted builders signed the export.`));
}

/** What an envelope says, before or after somebody looked at its signature; `null` when it says nothing of a build. */
export function statementOf(envelope: unknown): BuildExport | null {
  if (typeof envelope !== 'object' || envelope === null || !('payload' in envelope)) return null;
  try {
    const read = buildExportSchema.safeParse(
      JSON.parse(Buffer.from(String(envelope.payload), 'base64').toString('utf8')),
    );
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
