import { type Outcome, ok, type Refusal, refusal, refused } from '@idunn/kernel';
import { ownsNamespace } from '../ladder/identity.ts';
import type { Slot } from '../ladder/model.ts';
import type { HostRoute } from '../operations/port.ts';

/** One step of a plan. A plan is a value: it is printed, or it is carried out, and making it touches nothing. */
export type PlanStep =
  /** Goes on only when none of the hosts leads to the namespace. */
  | { readonly kind: 'require-unrouted'; readonly namespace: string; readonly hosts: readonly string[] }
  | { readonly kind: 'sleep'; readonly namespace: string }
  /** Ends when everything in the namespace is ready. */
  | { readonly kind: 'wake'; readonly namespace: string }
  | { readonly kind: 'route-host'; readonly namespace: string; readonly route: HostRoute }
  | { readonly kind: 'drop-route'; readonly namespace: string; readonly host: string }
  /** A phase of raising that the caller carries out. */
  | { readonly kind: 'raise'; readonly namespace: string; readonly phase: RaisePhase };

/** Puts a namespace to sleep, once it was seen that no host of the slot leads there. */
export function sleepPlan(slot: Slot, namespace: string): Outcome<readonly PlanStep[]> {
  if (!ownsNamespace(slot, namespace)) return refused(foreign(slot, namespace));
  return ok([
    { kind: 'require-unrouted', namespace, hosts: slot.hosts },
    { kind: 'sleep', namespace },
  ]);
}

export function wakePlan(slot: Slot, namespace: string): Outcome<readonly PlanStep[]> {
  return ownsNamespace(slot, namespace) ? ok([{ kind: 'wake', namespace }]) : refused(foreign(slot, namespace));
}

export interface Switch {
  /** Where the host leads now; `null` when nowhere. */
  readonly from: string | null;
  readonly to: string;
  readonly route: HostRoute;
}

/**
 * Moves a host of the slot from one of its namespaces to another. The order is the contract: the new one is awake
 * before the host leads there, and the old route goes only once the new one is there. The old namespace stays awake,
 * so that switching back takes as little as switching over.
 */
export function switchPlan(slot: Slot, { from, to, route }: Switch): Outcome<readonly PlanStep[]> {
  for (const namespace of from === null ? [to] : [from, to]) {
    if (!ownsNamespace(slot, namespace)) return refused(foreign(slot, namespace));
  }
  if (from === to) return refused(refusal('switch-nowhere', `${route.host} would be switched from ${to} to itself.`));
  if (!slot.hosts.includes(route.host)) {
    return refused(refusal('host-not-of-slot', `${route.host} is no host of ${slot.name}: ${slot.hosts.join(', ')}.`));
  }
  return ok([
    { kind: 'wake', namespace: to },
    { kind: 'route-host', namespace: to, route },
    ...(from === null ? [] : [{ kind: 'drop-route' as const, namespace: from, host: route.host }]),
  ]);
}

/**
 * The phases in which a generation is raised. Certificates come early because that step can refuse, and a refusal is
 * cheap while the namespace is empty. Until the host is switched nobody saw a failure; afterwards it is an outage.
 */
export const RAISE_PHASES = ['access', 'namespace', 'tls', 'storage', 'secrets', 'release', 'data'] as const;
export type RaisePhase = (typeof RAISE_PHASES)[number];

/** Raises a new generation and, as the last thing, switches the host to it. */
export function raisePlan(slot: Slot, change: Switch): Outcome<readonly PlanStep[]> {
  const switching = switchPlan(slot, change);
  if (!switching.ok) return switching;
  const phases = RAISE_PHASES.map((phase) => ({ kind: 'raise' as const, namespace: change.to, phase }));
  return ok([...phases, ...switching.value]);
}

/** The plan for people, one numbered line a step: what a dry run prints. */
export const renderPlan = (steps: readonly PlanStep[]): string =>
  steps.map((step, index) => `${index + 1}. ${sentence(step)}`).join('\n');

function sentence(step: PlanStep): string {
  switch (step.kind) {
    case 'require-unrouted':
      return `make sure that none of ${step.hosts.join(', ') || 'its hosts'} leads to ${step.namespace}`;
    case 'sleep':
      return `put ${step.namespace} to sleep`;
    case 'wake':
      return `wake ${step.namespace} and wait until it is ready`;
    case 'route-host': {
      const { host, service, port, tls } = step.route;
      const secured = tls === null ? '' : ` with the certificate ${tls}`;
      return `lead ${host} to ${service}:${port} in ${step.namespace}${secured}`;
    }
    case 'drop-route':
      return `drop the route of ${step.host} in ${step.namespace}`;
    case 'raise':
      return `raise ${step.namespace}: ${step.phase}`;
  }
}

const foreign = (slot: Slot, namespace: string): Refusal =>
  refusal('generation-foreign', `${namespace} is neither the namespace of ${slot.name} nor one of its generations.`);
