import { type Digest, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { checkAuthorizedBuild, verifyAuthorization } from '../authorization/frozen.ts';
import type { Plan } from '../model/plan.ts';
import type { SealedArtifact, SealedRelease } from '../model/sealed-release.ts';
import { planDigest } from '../plan/compile.ts';
import type { ReleaseProgress } from '../ports/release-port.ts';
import type { StageId } from '../ports/source-port.ts';
import { signedProvenance } from '../seal/provenance.ts';
import { sealRelease } from '../seal/seal.ts';
import type { Collector } from './collect.ts';
import type { ReleaseServicePorts } from './ports.ts';
import { aborted } from './work.ts';

export interface SealContext extends ReleaseServicePorts {
  readonly collector: Collector;
  /** The exact tree and the pinned inputs, in the stage of the plan. */
  materialize(): Promise<Outcome<{ readonly stage: Digest; readonly fetchMs: number }>>;
}

type Sealed = SealedRelease & { readonly stepsMs: number };

/**
 * Steps, artifacts, provenance, install, in that order; a plan that was sealed before gives the release that exists.
 */
export async function seal(
  ports: SealContext,
  plan: Plan,
  stage: StageId,
  signal: AbortSignal,
  progress: ReleaseProgress,
): Promise<Outcome<Sealed>> {
  const existing = await sealedBefore(ports, plan);
  if (existing !== null) return existing;
  // I5: a plan's own word for its authorization is believed no more than anybody else's.
  const authorized = verifyAuthorization(plan);
  if (!authorized.ok) return authorized;
  const materialized = await ports.materialize();
  if (!materialized.ok) return materialized;

  const lockfiles = await lockfilesOf(ports, plan, stage);
  if (!lockfiles.ok) return lockfiles;
  const carried = await carriedBuild(ports, plan, stage, progress);
  if (!carried.ok) return carried;
  const steps =
    carried.value === null ? await runSteps(ports, plan, stage, signal, progress) : ok({ stepsMs: 0, contacted: {} });
  if (!steps.ok) return steps;
  const artifacts = await sealArtifacts(ports, plan, stage);
  if (!artifacts.ok) return artifacts;
  const interpreter = await sameInterpreter(ports, plan);
  if (!interpreter.ok) return interpreter;

  const { stepsMs, contacted } = steps.value;
  const observed = { lockfiles: lockfiles.value, contacted, carried: carried.value };
  const provenance = signedProvenance(plan, artifacts.value, ports.key, observed);
  const release = sealRelease(plan, artifacts.value, provenance, ports.key.keyId);
  if (!release.ok) return release;
  const admitted = checkAuthorizedBuild(plan, release.value.build);
  if (!admitted.ok) return admitted;
  if (signal.aborted) return aborted(`Sealing ${plan.target}`);
  progress({ step: 'install', text: release.value.release });
  await ports.collector.hold(plan.target, release.value.release);
  const installed = await ports.releases.install(release.value, provenance, stage, plan.artifacts);
  if (!installed.ok) return installed;
  await ports.releases.remember(planDigest(plan), release.value.release);
  await ports.stages.discard(stage);
  return ok({ ...release.value, stepsMs });
}

/**
 * The same plan, already sealed: verified and returned, or refused when it was altered; never quietly made again over
 * a live one.
 */
async function sealedBefore(ports: SealContext, plan: Plan): Promise<Outcome<Sealed> | null> {
  const release = await ports.releases.sealedUnder(planDigest(plan));
  if (release === null) return null;
  await ports.collector.hold(plan.target, release);
  const verified = await ports.releases.verify(release);
  if (verified.ok) return ok({ ...verified.value, stepsMs: 0 });
  return verified.refusal.code === 'release-missing' ? null : verified;
}

/** What a profile's steps fetch is pinned by a file of the exact tree; read before any step could change it. */
async function lockfilesOf(
  ports: ReleaseServicePorts,
  { runners }: Plan,
  stage: StageId,
): Promise<Outcome<Record<string, Digest>>> {
  const digests: Record<string, Digest> = {};
  for (const [profile, { lockfile }] of Object.entries(runners)) {
    if (lockfile === null) continue;
    const digest = await ports.stages.fileDigest(stage, lockfile);
    if (digest === null) {
      const reason = `${lockfile}, the lockfile of profile ${profile}, is not a regular file of the source tree.`;
      return refused(refusal('lockfile-missing', reason));
    }
    digests[lockfile] = digest;
  }
  return ok(digests);
}

/**
 * An authorization for one build, whose bytes are here: they take the place of what the steps would leave, and no step
 * is run. `null` when there is nothing to carry.
 */
async function carriedBuild(
  ports: ReleaseServicePorts,
  { source, artifacts }: Plan,
  stage: StageId,
  progress: ReleaseProgress,
): Promise<Outcome<Digest | null>> {
  const build = source.authorization?.build ?? null;
  if (build === null) return ok(null);
  await ports.stages.spoil(stage);
  const placed = await ports.builds.place(build, stage, artifacts);
  if (placed.ok && placed.value !== null) progress({ step: 'carried build', text: build });
  return placed;
}

interface StepsRun {
  readonly stepsMs: number;
  readonly contacted: Readonly<Record<string, readonly string[]>>;
}

async function runSteps(
  ports: ReleaseServicePorts,
  plan: Plan,
  stage: StageId,
  signal: AbortSignal,
  progress: ReleaseProgress,
): Promise<Outcome<StepsRun>> {
  if (plan.steps.length > 0) await ports.stages.spoil(stage);
  let stepsMs = 0;
  const contacted: Record<string, readonly string[]> = {};
  for (const step of plan.steps) {
    const grant = Object.hasOwn(plan.runners, step.profile) ? plan.runners[step.profile] : undefined;
    if (grant === undefined) throw new TypeError(`the plan has no runner ${step.profile}`);
    progress({ step: step.id, text: step.argv.join(' ') });
    const request = { requestId: ports.ids.fresh('step'), stage, step, grant };
    const run = await ports.runner.run(request, signal, (text) => progress({ step: step.id, text }));
    if (!run.ok) return run;
    stepsMs += run.value.durationMs;
    if (run.value.contacted.length > 0) contacted[step.id] = run.value.contacted;
  }
  return ok({ stepsMs, contacted });
}

async function sealArtifacts(
  ports: ReleaseServicePorts,
  plan: Plan,
  stage: StageId,
): Promise<Outcome<SealedArtifact[]>> {
  const artifacts: SealedArtifact[] = [];
  for (const spec of plan.artifacts) {
    const artifact = await ports.stages.artifact(stage, spec);
    if (!artifact.ok) return artifact;
    artifacts.push(artifact.value);
  }
  return ok(artifacts);
}

/** I2: the interpreter that is sealed is the one that was planned. */
async function sameInterpreter(ports: ReleaseServicePorts, { target, launch }: Plan): Promise<Outcome<'same'>> {
  const { program } = launch;
  if (program.kind === 'artifact' || program.origin === 'input') return ok('same');
  const questions = {
    target,
    interpreters: [program.path],
    programs: [],
    secrets: [],
    directories: [],
    mounts: [],
    users: [],
  };
  const found = (await ports.host.look(questions)).interpreters[program.path];
  if (found?.kind === 'seen' && found.value === program.digest) return ok('same');
  return refused(
    refusal('interpreter-changed', `The interpreter ${program.path} changed since ${target} was planned.`),
  );
}
