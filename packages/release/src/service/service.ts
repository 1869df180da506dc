import { type Digest, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { refusedFaults } from '../configuration/fault.ts';
import type { Plan } from '../model/plan.ts';
import type { SealedRelease } from '../model/sealed-release.ts';
import { checkHost } from '../plan/check-host.ts';
import { compilePlan, planDigest } from '../plan/compile.ts';
import { hostQuestions } from '../plan/host-facts.ts';
import type { Planned, ReleasePort, ReleaseProgress } from '../ports/release-port.ts';
import type { SourcePort, StageId } from '../ports/source-port.ts';
import { parseRecipe } from '../recipe/parse.ts';
import { selectSource } from '../source/selection.ts';
import { stageId } from '../source/stage-paths.ts';
import { createCollector } from './collect.ts';
import type { ReleaseServicePorts } from './ports.ts';
import { seal } from './seal.ts';
import { createLanes, orDiskRefusal } from './work.ts';

/** The release room's port over its own ports. Work for one target is done in order, work for others beside it. */
export function createReleaseService(ports: ReleaseServicePorts): ReleasePort {
  const lanes = createLanes();
  const collector = createCollector(ports);
  const installedOf = (target: string) => ports.installed?.find(({ binding }) => binding.binding.target === target);
  const sourceOf = (target: string): SourcePort => installedOf(target)?.source ?? ports.source;

  async function plan(target: string, ref: string | undefined, signal: AbortSignal): Promise<Outcome<Planned>> {
    const fleet = ports.fleet();
    const bound = installedOf(target)?.binding ?? fleet.bindings.get(target);
    if (bound === undefined) {
      return refused(
        refusal('target-unknown', `The fleet ${fleet.id} has no valid binding for ${target.slice(0, 200)}.`),
      );
    }
    // F1: all that can refuse without the source is asked before anything is fetched.
    const authorized =
      bound.binding.source.selection === 'signed-authorization'
        ? await ports.authorizations.current(bound.binding)
        : ok(null);
    if (!authorized.ok) return authorized;
    const request = selectSource(bound.binding, ref, authorized.value);
    if (!request.ok) return request;
    const hostFacts = await ports.host.look(hostQuestions(fleet, bound));
    const faults = checkHost(fleet, bound, ports.machine, hostFacts);
    if (faults.length > 0) return refusedFaults(faults);

    const resolved = await sourceOf(target).resolve(request.value, signal);
    if (!resolved.ok) return resolved;
    const { facts, recipe: bytes, fetchMs } = resolved.value;
    const recipe = parseRecipe(Buffer.from(bytes, 'base64').toString('utf8'), facts.recipePath);
    if (!recipe.ok) return recipe;
    const machine = ports.machine;
    const compiled = compilePlan({ fleet, machine, binding: bound, recipe: recipe.value, facts, hostFacts });
    return compiled.ok ? ok({ plan: compiled.value, fetchMs }) : compiled;
  }

  async function materialize(
    planned: Plan,
    stage: StageId,
    signal: AbortSignal,
    progress: ReleaseProgress,
  ): Promise<Outcome<{ readonly stage: Digest; readonly fetchMs: number }>> {
    const { target, source: facts, inputs } = planned;
    const before = await ports.stages.verified(stage, facts);
    let digest = before;
    if (digest === null) {
      progress({ step: 'source', text: `copying ${facts.commit} from ${facts.origin}` });
      await collector.endLeftBehind(target, stage);
      await ports.stages.begin(target, stage, collector.busyStages());
      const staged = await sourceOf(target).stage(target, facts, stage, signal);
      if (!staged.ok) return staged;
      digest = staged.value;
    }
    let fetchMs = 0;
    for (const input of inputs) {
      progress({ step: `input ${input.id}`, text: input.url });
      const askedMs = ports.clock.monotonicMs();
      const placed = await ports.inputs.place(input, stage, signal);
      if (!placed.ok) return placed;
      if (placed.value.fetched) fetchMs += ports.clock.monotonicMs() - askedMs;
    }
    if (before === null) await ports.stages.mark(stage);
    return ok({ stage: digest, fetchMs });
  }

  /** One lane for each target, and the stage is known as busy while it is worked in. */
  function inStage<T>(
    planned: Plan,
    doing: string,
    work: (stage: StageId) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const stage = stageId(planned.target, planDigest(planned));
    return lanes(planned.target, () => collector.busy(stage, () => orDiskRefusal(doing, () => work(stage))));
  }

  return {
    plan: ({ target, ref }, signal) =>
      lanes(target, () => orDiskRefusal(`Planning ${target}`, () => plan(target, ref, signal))),

    materialize: (planned, signal, progress) =>
      inStage(planned, `Staging ${planned.target}`, (stage) => materialize(planned, stage, signal, progress)),

    seal: (planned, signal, progress) =>
      inStage(planned, `Sealing ${planned.target}`, async (stage) => {
        const context = { ...ports, collector, materialize: () => materialize(planned, stage, signal, progress) };
        const sealed = await seal(context, planned, stage, signal, progress);
        if (!sealed.ok) collector.letGo(planned.target);
        return sealed;
      }),

    installed: (release: Digest): Promise<Outcome<SealedRelease>> =>
      orDiskRefusal('Reading the release', () => ports.releases.verify(release)),

    collect: (keep) => collector.collect(keep),
  };
}
