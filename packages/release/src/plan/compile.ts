import { type Digest, digestJson, type Outcome, ok } from '@idunn/kernel';
import type { BindingDocument } from '../binding/parse.ts';
import type { Binding } from '../binding/schema.ts';
import { type Fault, refusedFaults } from '../configuration/fault.ts';
import { type Fleet, routeName } from '../fleet/fleet.ts';
import {
  type ArtifactSpec,
  type PhaseDeadlines,
  type Plan,
  type RehearsalContract,
  type RolloutContract,
  type RouteContract,
  type StateContract,
  type Step,
  type Steward,
  startKindOf,
} from '../model/plan.ts';
import type { SourceFacts } from '../model/source-facts.ts';
import type { RecipeDocument } from '../recipe/parse.ts';
import type { Recipe } from '../recipe/schema.ts';
import { checkAdmission } from './admit.ts';
import { checkHost } from './check-host.ts';
import { compileHealth } from './health.ts';
import type { HostFacts } from './host-facts.ts';
import { compileLaunch, INTERPRETER_ARTIFACT } from './launch.ts';
import { compileRunners } from './runners.ts';

export interface PlanInputs {
  readonly fleet: Fleet;
  readonly machine: string;
  readonly binding: BindingDocument;
  readonly recipe: RecipeDocument;
  readonly facts: SourceFacts;
  readonly hostFacts: HostFacts;
}

/** Recipe, binding and facts, compiled and frozen; refused with every fault of both files at once. */
export function compilePlan(inputs: PlanInputs): Outcome<Plan> {
  const { fleet, machine, binding: bound, recipe: asked, facts, hostFacts } = inputs;
  if (facts.recipeDigest !== asked.digest) throw new TypeError('the recipe is not the one that the source facts name');
  const faults: readonly Fault[] = [...checkHost(fleet, bound, machine, hostFacts), ...checkAdmission(asked, bound)];
  if (faults.length > 0) return refusedFaults(faults);
  const { recipe } = asked;
  const { binding } = bound;
  // Parsing refuses a recipe without health (F23); admission, a binding without a signer.
  if (recipe.health === undefined || hostFacts.signer.kind !== 'seen') throw new TypeError('an unchecked recipe');
  const launch = compileLaunch(fleet, recipe, binding, hostFacts);
  const health = compileHealth(recipe.health, launch, binding);
  const state = compileState(recipe, binding);
  return ok({
    schema: 'idunn.plan/v1',
    fleet: fleet.id,
    machine,
    target: binding.target,
    source: facts,
    bindingDigest: bound.digest,
    inputs: recipe.external_input.map(({ id, url, sha256, max_bytes }) => ({ id, url, sha256, maxBytes: max_bytes })),
    runners: compileRunners(recipe, binding),
    steps: recipe.step.map(compileStep),
    artifacts: [...recipe.artifact, ...sealedInterpreter(recipe, binding)],
    launch,
    health,
    continuity: { failedAfterMs: binding.continuity.failed_after_ms ?? null },
    steward: compileSteward(binding),
    state,
    rehearsal: startKindOf({ health, state }) === 'gated' ? compileRehearsal(binding) : null,
    route: compileRoute(bound),
    capabilities: recipe.capability,
    rollout: compileRollout(binding),
    deadlines: compileDeadlines(binding),
    drainMs: binding.rollout.drain_ms,
    retainReleases: binding.retention.releases,
    signer: hostFacts.signer.value,
  });
}

/** The plan's content address. */
export const planDigest = (plan: Plan): Digest => digestJson(plan);

function sealedInterpreter(recipe: Recipe, binding: Binding): ArtifactSpec[] {
  const name = recipe.service?.interpreter;
  const input = name === undefined ? undefined : binding.interpreter[name]?.input;
  return input === undefined ? [] : [{ id: INTERPRETER_ARTIFACT, path: input, kind: 'file', from: 'input' }];
}

function compileStep(step: Recipe['step'][number]): Step {
  const [program = '', ...words] = step.argv;
  return {
    id: step.id,
    stage: step.stage,
    profile: step.profile,
    argv: [program, ...words],
    cwd: step.cwd,
    timeoutMs: step.timeout_ms,
    outputLimitBytes: step.output_limit_bytes,
  };
}

function compileState({ state: asked, health }: Recipe, { state: granted, target }: Binding): StateContract | null {
  if (asked === undefined || granted === undefined) return null;
  const kept = health?.kind === 'idunn' && asked.store.some(({ kind }) => kind === 'sqlite');
  return {
    // F20: the identity belongs to the target and outlives every release.
    stateId: granted.id ?? target,
    schema: asked.schema,
    accepts: [...new Set([asked.schema, ...asked.accepts])],
    root: granted.root,
    stores: asked.store,
    ...(granted.group === undefined ? {} : { group: granted.group }),
    lease: kept ? 'rows' : 'file',
    fence: kept && asked.store.every(({ kind }) => kind === 'sqlite') ? 'epoch-raised' : 'tree-empty',
  };
}

const compileSteward = ({ steward }: Binding): Steward | null =>
  steward === undefined ? null : { user: steward.user, store: steward.store };

function compileRehearsal({ rehearsal }: Binding): RehearsalContract {
  return { timeoutMs: rehearsal.timeout_ms, copyLimitBytes: rehearsal.copy_limit_bytes };
}

function compileRollout({ rollout: { strategy, reason } }: Binding): RolloutContract {
  if (strategy === 'candidate-then-promote') return { strategy };
  if (reason === undefined) throw new TypeError('an unchecked binding');
  return { strategy, reason };
}

function compileRoute(bound: BindingDocument): RouteContract | null {
  const { route } = bound.binding;
  const name = routeName(bound);
  if (route === undefined || name === null) return null;
  const { tls } = route;
  return {
    name,
    listen: route.listen,
    protocol: route.protocol,
    names: route.names,
    tls: tls === undefined ? null : { certificates: [{ certificate: tls.certificate, key: tls.key }, ...tls.more] },
    redirect: route.redirect ?? null,
    proxyProtocol: route.proxy_protocol,
    idleMs: route.idle_ms,
    holdMs: route.hold_ms,
    holdRequests: route.hold_requests,
    holdBytes: route.hold_bytes,
  };
}

function compileDeadlines({ deadlines }: Binding): PhaseDeadlines {
  return {
    materializeMs: deadlines.materialize_ms,
    sealMs: deadlines.seal_ms,
    startMs: deadlines.start_ms,
    warmingMs: deadlines.warming_ms,
    handoverMs: deadlines.handover_ms,
    relinquishMs: deadlines.relinquish_ms,
    readyMs: deadlines.ready_ms,
    routeMs: deadlines.route_ms,
    stopMs: deadlines.stop_ms,
  };
}
