import type { RolloutProgress } from '../operations/port.ts';
import type { KubeWorkload, WorkloadRef } from './workload.ts';

/** Where a rollout stands, by what the cluster's controller said of it. Pure. */
export type RolloutStanding =
  | { readonly kind: 'ready' }
  | { readonly kind: 'going'; readonly progress: RolloutProgress }
  | { readonly kind: 'failed'; readonly because: string };

/**
 * A workload is rolled out when its controller has seen this generation, every wanted replica is of the new template
 * and available, and none of the old is left. What the controller said of an older generation says nothing (I10).
 */
export function standingOf(ref: WorkloadRef, { metadata, spec, status }: KubeWorkload): RolloutStanding {
  const daemon = ref.kind === 'daemonset';
  const wanted = daemon ? status.desiredNumberScheduled : spec.replicas;
  const updated = daemon ? status.updatedNumberScheduled : status.updatedReplicas;
  const ready = daemon ? status.numberAvailable : availableOf(ref, status);
  const going = (waitingOn: string): RolloutStanding => ({
    kind: 'going',
    progress: { workload: `${ref.kind}/${ref.name}`, updated, ready, wanted, waitingOn },
  });
  if (status.observedGeneration < metadata.generation) return going('its controller to see the change');
  const barred = whatBars(ref, spec);
  if (barred !== null) return { kind: 'failed', because: barred };
  const late = status.conditions.find(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  );
  if (late !== undefined) return { kind: 'failed', because: late.message || 'its progress deadline passed' };
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  if (updated < wanted - partition) return going(`${wanted - partition - updated} of ${wanted} to be updated`);
  if (!daemon && status.replicas > wanted) return going(`${status.replicas - wanted} of the old ones to end`);
  if (ready < wanted) return going(`${wanted - ready} of ${wanted} to become available`);
  const { currentRevision, updateRevision } = status;
  if (ref.kind === 'statefulset' && partition === 0 && wanted > 0 && currentRevision !== updateRevision) {
    return going(`revision ${updateRevision ?? 'unknown'} to become the current one`);
  }
  return { kind: 'ready' };
}

const availableOf = (ref: WorkloadRef, status: KubeWorkload['status']): number =>
  ref.kind === 'statefulset' ? Math.min(status.readyReplicas, status.availableReplicas) : status.availableReplicas;

/** What makes the cluster never roll it out by itself. */
function whatBars(ref: WorkloadRef, { paused, updateStrategy }: KubeWorkload['spec']): string | null {
  if (paused) return `the rollout of ${ref.kind}/${ref.name} is paused`;
  if (updateStrategy?.type === 'OnDelete') return `${ref.kind}/${ref.name} is updated only when its pods are deleted`;
  return null;
}
