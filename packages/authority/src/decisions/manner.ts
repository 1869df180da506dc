import { type Plan, startKindOf } from '@idunn/release';
import type { Body } from '../records/body.ts';
import type { Passage } from '../records/passage.ts';
import { type DeployEvidence, planOf } from './evidence.ts';

/** Its incumbent and its candidate may never stand side by side, whatever its state. */
export const standsAlone = (plan: Plan): boolean => plan.rollout.strategy === 'stop-then-start';

/** It is started by a launcher that waits for the grant. */
export const isGated = (plan: Plan): boolean => startKindOf(plan) === 'gated';

/** It speaks the lease protocol: it can be asked to relinquish, and to read a nonce back. */
export const speaksLease = (plan: Plan): boolean => plan.state?.lease === 'rows';

/**
 * Nothing but the end of every process fences between these two: a store, or a program, compares no row, or the two
 * keep their rows in different places.
 */
function fencedByTree(successor: Plan, predecessor: Plan): boolean {
  if (successor.state === null || predecessor.state === null) return false;
  const strongest = [successor.state.fence, predecessor.state.fence].includes('tree-empty');
  return strongest || successor.state.lease !== predecessor.state.lease;
}

/** Whether the predecessors end before the successor may run, or before it may be granted anything. */
export const endsFirst = (e: DeployEvidence, plan: Plan, predecessors: readonly Body[]): boolean =>
  standsAlone(plan) ||
  plan.state?.fence === 'tree-empty' ||
  predecessors.some((body) => {
    const other = planOf(e, body.plan);
    return standsAlone(other) || fencedByTree(plan, other);
  });

/** The same of a passage, in either direction. */
export const passageEndsFirst = (e: DeployEvidence, { successor, predecessors }: Passage): boolean =>
  endsFirst(e, planOf(e, successor.subject.plan), predecessors);

/** Successor and predecessors may not even start side by side. */
export const passageStandsAlone = (e: DeployEvidence, { successor, predecessors }: Passage): boolean =>
  [successor.subject, ...predecessors].some(({ plan }) => standsAlone(planOf(e, plan)));

/** The end of its whole tree can be seen: it has a control group, or its binding calls it a single process (I10). */
export const endIsProvable = (e: DeployEvidence, { plan, handle }: Pick<Body, 'plan' | 'handle'>): boolean =>
  handle.identity.controlGroup !== null || planOf(e, plan).launch.singleProcess;
