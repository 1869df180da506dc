import { canonicalJson, type Digest, type SigningKey, signEnvelope } from '@idunn/kernel';
import { z } from 'zod';
import type { Plan } from '../model/plan.ts';
import type { SealedArtifact } from '../model/sealed-release.ts';
import { planDigest } from '../plan/compile.ts';

/** What was seen while the steps ran. */
export interface BuildObservations {
  /** The lockfiles of the profiles, by path, before any step ran. */
  readonly lockfiles: Readonly<Record<string, Digest>>;
  /** By step: each place outside that it connected to. */
  readonly contacted: Readonly<Record<string, readonly string[]>>;
  /** The provenance of the fleet that the bytes were carried from; `null` when the steps ran here. */
  readonly carried: Digest | null;
}

export const NOTHING_OBSERVED: BuildObservations = { lockfiles: {}, contacted: {}, carried: null };

export const IN_TOTO_PAYLOAD_TYPE = 'application/vnd.in-toto+json';

const STEP = 'network of step ';
const CARRIED = 'carried build';

const hex = (digest: string): string => digest.slice('sha256:'.length);

/**
 * An in-toto Statement (v1) with SLSA provenance (v1). Each sealed file is a subject, so that `sha256sum` is enough
 * to check one. It holds no time: the same plan and bytes give the same statement.
 */
export function provenanceStatement(
  plan: Plan,
  artifacts: readonly SealedArtifact[],
  { lockfiles, contacted, carried }: BuildObservations = NOTHING_OBSERVED,
) {
  const { source, launch } = plan;
  const byproducts = Object.entries(contacted).map(([step, places]) => ({
    name: `${STEP}${step}`,
    annotations: { contacted: places },
  }));
  const interpreter = launch.program.kind === 'interpreter' ? [launch.program] : [];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: artifacts.flatMap(({ id, files }) =>
      files.flatMap((file) =>
        file.link === undefined
          ? [{ name: file.path === '' ? id : `${id}/${file.path}`, digest: { sha256: hex(file.digest) } }]
          : [],
      ),
    ),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:idunn:build:v1',
        externalParameters: {
          target: plan.target,
          ref: source.ref,
          selection: source.selection,
          recipe: source.recipePath,
          ...(source.authorization === null ? {} : { authorization: source.authorization.digest }),
        },
        internalParameters: {
          fleet: plan.fleet,
          machine: plan.machine,
          plan: planDigest(plan),
          binding: plan.bindingDigest,
        },
        resolvedDependencies: [
          {
            uri: source.origin,
            digest:
              source.objectFormat === 'sha1'
                ? { gitCommit: source.commit, gitTree: source.tree }
                : { sha256: source.tree, gitCommit: source.commit },
          },
          { name: source.recipePath, digest: { sha256: hex(source.recipeDigest) } },
          ...Object.entries(lockfiles).map(([name, digest]) => ({ name, digest: { sha256: hex(digest) } })),
          ...plan.inputs.map(({ id, url, sha256 }) => ({ name: id, uri: url, digest: { sha256: hex(sha256) } })),
          ...(carried === null ? [] : [{ name: CARRIED, digest: { sha256: hex(carried) } }]),
          ...interpreter.map(({ digest }) => ({ name: 'interpreter', digest: { sha256: hex(digest) } })),
        ],
      },
      runDetails: {
        builder: { id: `urn:idunn:fleet:${plan.fleet}:machine:${plan.machine}` },
        metadata: { invocationId: planDigest(plan) },
        ...(byproducts.length === 0 ? {} : { byproducts }),
      },
    },
  };
}

/** The signed statement as the text of `provenance.json`. */
export function signedProvenance(
  plan: Plan,
  artifacts: readonly SealedArtifact[],
  key: SigningKey,
  observed: BuildObservations = NOTHING_OBSERVED,
): string {
  const statement = provenanceStatement(plan, artifacts, observed);
  return `${canonicalJson(signEnvelope(statement, [key], IN_TOTO_PAYLOAD_TYPE))}\n`;
}

const observedSchema = z.object({
  predicate: z.object({
    buildDefinition: z.object({
      resolvedDependencies: z.array(
        z.object({ name: z.string().optional(), digest: z.object({ sha256: z.string().optional() }) }),
      ),
    }),
    runDetails: z.object({
      byproducts: z
        .array(z.object({ name: z.string(), annotations: z.object({ contacted: z.array(z.string()) }) }))
        .default([]),
    }),
  }),
});

/**
 * What a statement says was seen while it was built, which no plan tells. The rest of a statement is held against its
 * plan; these are the builder's word.
 */
export function observationsOf(statement: unknown, { runners }: Plan): BuildObservations {
  const read = observedSchema.safeParse(statement);
  if (!read.success) return NOTHING_OBSERVED;
  const { buildDefinition, runDetails } = read.data.predicate;
  const digestOf = (name: string): Digest | null => {
    const found = buildDefinition.resolvedDependencies.find((one) => one.name === name)?.digest.sha256;
    return found === undefined ? null : `sha256:${found}`;
  };
  const lockfiles = Object.values(runners).flatMap(({ lockfile }) => {
    const digest = lockfile === null ? null : digestOf(lockfile);
    return lockfile === null || digest === null ? [] : [[lockfile, digest] as const];
  });
  return {
    lockfiles: Object.fromEntries(lockfiles),
    contacted: Object.fromEntries(
      runDetails.byproducts.map(({ name, annotations }) => [name.slice(STEP.length), annotations.contacted]),
    ),
    carried: digestOf(CARRIED),
  };
}
