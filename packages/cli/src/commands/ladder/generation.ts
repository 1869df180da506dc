import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import {
  type Clearance,
  newGeneration,
  type PlanStep,
  RAISE_PHASES,
  type ReleaseOperations,
  raisePlan,
  renderPlan,
  runPlan,
  type Slot,
  sleepPlan,
  switchPlan,
  wakePlan,
} from '@idunn/ladder';
import type { Environment } from '../../edge/environment.ts';
import { type Answered, type LadderContext, type LadderOptions, withLadder } from '../../ladder/context.ts';
import { dryRun } from './code.ts';

export interface StepOptions extends LadderOptions {
  readonly namespace?: string;
  readonly deadline: number;
}

export interface SwitchOptions extends StepOptions {
  readonly host: string;
  readonly service: string;
  readonly port: number;
  readonly tls?: string;
}

export interface RaiseOptions extends SwitchOptions {
  readonly manifests: string;
}

/** `idunn ladder sleep SLOT`. */
export const sleep = (environment: Environment, name: string, options: StepOptions): Promise<number> =>
  planned(environment, name, options, (slot) => ok(sleepPlan(slot, options.namespace ?? slot.namespace)));

/** `idunn ladder wake SLOT`. */
export const wake = (environment: Environment, name: string, options: StepOptions): Promise<number> =>
  planned(environment, name, options, (slot) => ok(wakePlan(slot, options.namespace ?? slot.namespace)));

/** `idunn ladder switch SLOT TO`: the host of a slot leads to another of its generations. */
export const switchTo = (environment: Environment, name: string, to: string, options: SwitchOptions): Promise<number> =>
  planned(environment, name, options, async (slot, context) => {
    const from = await leadsTo(context, slot, options);
    if (!from.ok) return from;
    return ok(switchPlan(slot, { from: from.value, to, route: routeOf(options) }));
  });

/**
 * `idunn ladder raise SLOT`: a new generation, phase by phase from a directory of manifests `PHASE.yaml`; the last
 * thing is the switch of the host. A phase without a file is passed over and said.
 */
export const raise = (environment: Environment, name: string, options: RaiseOptions): Promise<number> =>
  withLadder(environment, options, async (context) => {
    const slot = context.guard.look({ slot: name });
    if (!slot.ok) return slot;
    const preview = options.dryRun === true;
    const operations = preview ? null : await context.operations(slot.value);
    if (operations !== null && !operations.ok) return operations;
    const namespaces = operations === null ? ok([]) : await operations.value.namespaces();
    if (!namespaces.ok) return namespaces;
    const made = newGeneration(slot.value, environment.nowMs(), namespaces.value);
    if (!made.ok) return made;
    const from = await leadsTo(context, slot.value, options);
    if (!from.ok) return from;
    const to = made.value.namespace;
    const plan = raisePlan(slot.value, { from: from.value, to, route: routeOf(options) });
    if (!plan.ok) return plan;
    const directory = resolve(environment.directory, options.manifests);
    if (operations === null) return dryRun(renderPlan(plan.value), context, name);
    const manifests = readPhases(directory);
    if (!manifests.ok) return manifests;
    const clearance = await context.guard.clear({ slot: name });
    if (!clearance.ok) return clearance;
    for (const phase of RAISE_PHASES) {
      const text = manifests.value.get(phase) ?? null;
      const climbed = await climb(context, operations.value, clearance.value, { phase, namespace: to, text });
      if (!climbed.ok) return climbed;
    }
    const switching = plan.value.filter(({ kind }) => kind !== 'raise');
    return carryOut(context, operations.value, clearance.value, switching, options);
  });

/** Every file of the directory, before anything is changed: a misspelt one would be a phase that is left out unseen. */
function readPhases(directory: string): Outcome<ReadonlyMap<string, string>> {
  const phases = RAISE_PHASES.filter((phase) => phase !== 'namespace');
  const texts = new Map<string, string>();
  try {
    for (const name of readdirSync(directory)) {
      const phase = phases.find((one) => name === `${one}.yaml`);
      if (phase === undefined) {
        const known = phases.map((one) => `${one}.yaml`).join(', ');
        return refused(refusal('manifest-unusable', `${join(directory, name)} is no phase; there are ${known}.`));
      }
      texts.set(phase, readFileSync(join(directory, name), 'utf8'));
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused(refusal('ladder-file-unreadable', `${directory} cannot be read: ${why}.`));
  }
  if (texts.has('release')) return ok(texts);
  return refused(refusal('manifest-unusable', `${directory} holds no release.yaml: there would be nothing to raise.`));
}

async function climb(
  { say }: LadderContext,
  operations: ReleaseOperations,
  clearance: Clearance,
  { phase, namespace, text }: { readonly phase: string; readonly namespace: string; readonly text: string | null },
): Promise<Outcome<void>> {
  // The namespace is named by the generation and by nothing else; whatever names none is put into it. Rights within
  // it need it to be there.
  if (phase === 'namespace' || (phase === 'access' && text !== null)) {
    const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const made = await operations.apply(clearance, { namespace, source: { kind: 'manifests', documents: [manifest] } });
    if (!made.ok || phase === 'namespace') return made;
  }
  say(text === null ? `${phase}: no ${phase}.yaml, passed over` : `${phase}: applying ${phase}.yaml`);
  if (text === null) return ok(undefined);
  return operations.apply(clearance, { namespace, source: { kind: 'manifests', documents: [text] } });
}

/** Where the host leads now; a dry run reads nothing and shows the plan as from nowhere. */
async function leadsTo(context: LadderContext, slot: Slot, options: SwitchOptions): Promise<Outcome<string | null>> {
  if (options.dryRun === true) return ok(null);
  const operations = await context.operations(slot);
  if (!operations.ok) return operations;
  const owner = await operations.value.hostOwner(options.host);
  if (owner.kind === 'unknown') {
    return refused(refusal('host-owner-unknown', `Where ${options.host} leads could not be read: ${owner.because}.`));
  }
  return ok(owner.kind === 'seen' ? owner.value : null);
}

const routeOf = ({ host, service, port, tls }: SwitchOptions) => ({ host, service, port, tls: tls ?? null });

type Steps = Outcome<readonly PlanStep[]>;

function planned(
  environment: Environment,
  name: string,
  options: StepOptions,
  make: (slot: Slot, context: LadderContext) => Outcome<Steps> | Promise<Outcome<Steps>>,
): Promise<number> {
  return withLadder(environment, options, async (context) => {
    const slot = context.guard.look({ slot: name });
    if (!slot.ok) return slot;
    const made = await make(slot.value, context);
    if (!made.ok) return made;
    if (!made.value.ok) return made.value;
    const steps = made.value.value;
    if (options.dryRun === true) return dryRun(renderPlan(steps), context, name);
    const clearance = await context.guard.clear({ slot: name });
    if (!clearance.ok) return clearance;
    const operations = await context.operations(slot.value);
    return operations.ok ? carryOut(context, operations.value, clearance.value, steps, options) : operations;
  });
}

async function carryOut(
  { say }: LadderContext,
  operations: ReleaseOperations,
  clearance: Clearance,
  steps: readonly PlanStep[],
  { deadline }: StepOptions,
): Promise<Outcome<Answered>> {
  const done = await runPlan(operations, clearance, steps, {
    stepDeadlineMs: deadline * 1_000,
    progress: (step, index) => say(`${index + 1}/${steps.length} ${renderPlan([step]).slice(3)}`),
  });
  if (!done.ok) return done;
  const lines = [`done: ${steps.length} steps.`];
  return ok({ lines, value: { schema: 'idunn.ladder-steps/v1', steps: renderPlan(steps).split('\n') } });
}
