import { type Digest, digestBytes, digestJson, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Plan } from '../model/plan.ts';
import type { SealedArtifact, SealedRelease } from '../model/sealed-release.ts';
import { planDigest } from '../plan/compile.ts';

/** What a build is made of. Nothing of a fleet, machine, binding or origin is in it. */
export interface BuildContent {
  readonly schema: 'idunn.build/v1';
  readonly source: { readonly objectFormat: string; readonly commit: string; readonly tree: string };
  readonly recipe: { readonly path: string; readonly digest: Digest };
  readonly inputs: readonly { readonly id: string; readonly sha256: Digest }[];
  readonly steps: readonly {
    readonly id: string;
    readonly stage: string;
    readonly profile: string;
    readonly argv: readonly string[];
    readonly cwd: string;
  }[];
  readonly artifacts: readonly Pick<SealedArtifact, 'id' | 'kind' | 'digest'>[];
}

export function buildContent({ source, inputs, steps }: Plan, artifacts: readonly SealedArtifact[]): BuildContent {
  return {
    schema: 'idunn.build/v1',
    source: { objectFormat: source.objectFormat, commit: source.commit, tree: source.tree },
    recipe: { path: source.recipePath, digest: source.recipeDigest },
    inputs: inputs.map(({ id, sha256 }) => ({ id, sha256 })),
    steps: steps.map(({ id, stage, profile, argv, cwd }) => ({ id, stage, profile, argv, cwd })),
    artifacts: artifacts.map(({ id, kind, digest }) => ({ id, kind, digest })),
  };
}

/** The build's content address: the same commit that gives the same bytes is the same build everywhere. */
export const buildDigest = (plan: Plan, artifacts: readonly SealedArtifact[]): Digest =>
  digestJson(buildContent(plan, artifacts));

/** Build + binding + launch contract as one record, named by its own digest. */
export function sealRelease(
  plan: Plan,
  artifacts: readonly SealedArtifact[],
  provenance: string,
  sealedBy: string,
): Outcome<SealedRelease> {
  const program = sealedProgram(plan, artifacts);
  if (!program.ok) return program;
  const record: Omit<SealedRelease, 'release'> = {
    schema: 'idunn.sealed-release/v1',
    target: plan.target,
    build: buildDigest(plan, artifacts),
    plan: planDigest(plan),
    bindingDigest: plan.bindingDigest,
    launchDigest: digestJson(plan.launch),
    revision: plan.source.commit,
    ...program.value,
    artifacts,
    provenance: digestBytes(provenance),
    sealedBy,
  };
  return ok({ ...record, release: digestJson(record) });
}

/** The digest that names a release record. */
export function releaseDigest(release: SealedRelease): Digest {
  return digestJson({ ...release, release: undefined });
}

/** What will be exec'd, found among the sealed bytes (I2). */
function sealedProgram(
  { target, launch: { program } }: Plan,
  artifacts: readonly SealedArtifact[],
): Outcome<Pick<SealedRelease, 'executableDigest' | 'entry'>> {
  const { artifact, path } = program.kind === 'artifact' ? program : program.entry;
  const file = artifacts.find(({ id }) => id === artifact)?.files.find((entry) => entry.path === path);
  const name = path === '' ? artifact : `${artifact}/${path}`;
  if (file === undefined || file.link !== undefined) {
    return refused(refusal('entry-missing', `The program ${name} is not a regular file among the sealed artifacts.`));
  }
  if (program.kind === 'interpreter') {
    const sealed = program.origin === 'host' ? program.digest : sealedDigest(artifacts, program.artifact);
    if (sealed !== program.digest) {
      return refused(refusal('interpreter-changed', `The interpreter of ${target} is not the input that was pinned.`));
    }
    return ok({ executableDigest: program.digest, entry: { artifact, path, digest: file.digest } });
  }
  if (!file.executable) return refused(refusal('entry-missing', `The program ${name} is not executable.`));
  return ok({ executableDigest: file.digest, entry: null });
}

const sealedDigest = (artifacts: readonly SealedArtifact[], artifact: string): Digest | undefined =>
  artifacts.find(({ id }) => id === artifact)?.files[0]?.digest;
