import { isFields } from './fields.ts';
import type { Event, Kept, Objects } from './objects.ts';

/** Images of which no pod ever becomes available, and of which the rollout stops half way. */
export const BROKEN = 'registry.example.test/broken:1';
export const STUCK = 'registry.example.test/stuck:1';

const spec = (object: Kept): { replicas?: number } => (isFields(object['spec']) ? object['spec'] : {});
const text = (object: Kept): string => JSON.stringify(object['spec'] ?? {});
const observed = (object: Kept): number => {
  const status = object['status'];
  return isFields(status) && typeof status['observedGeneration'] === 'number' ? status['observedGeneration'] : 0;
};

/**
 * What the cluster's own controllers do with deployments and stateful sets, a step at a time: they see the change, then
 * replace the pods, then find them available.
 */
export function runControllers(objects: Objects): void {
  const told = objects.changed;
  objects.changed = (event: Event) => {
    told(event);
    const { path, object, type } = event;
    if (type === 'DELETED' || !/\/(deployments|statefulsets)\//.test(path)) return;
    if (observed(object) >= object.metadata.generation) return;
    setImmediate(() => step(objects, path, object.metadata.generation));
  };
}

function step(objects: Objects, path: string, generation: number): void {
  const kept = objects.objects.get(path);
  if (kept === undefined || kept.metadata.generation !== generation || observed(kept) >= generation) return;
  const replicas = spec(kept).replicas ?? 1;
  const seen = { observedGeneration: generation, replicas };
  const revision = path.includes('/statefulsets/') ? { updateRevision: `r${generation}` } : {};
  const progressing = (reason: string, message: string) => ({
    conditions: [
      { type: 'Progressing', status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True', reason, message },
    ],
  });
  if (text(kept).includes(BROKEN)) {
    const late = progressing('ProgressDeadlineExceeded', 'the new pods never became available');
    return objects.setStatus(path, () => ({
      ...seen,
      replicas: replicas + 1,
      updatedReplicas: 1,
      readyReplicas: replicas,
      availableReplicas: replicas,
      ...late,
    }));
  }
  if (text(kept).includes(STUCK)) {
    return objects.setStatus(path, () => ({
      ...seen,
      updatedReplicas: 1,
      readyReplicas: replicas,
      availableReplicas: replicas,
      ...progressing('ReplicaSetUpdated', 'it is progressing'),
    }));
  }
  objects.setStatus(path, () => ({
    ...seen,
    updatedReplicas: replicas,
    readyReplicas: 0,
    availableReplicas: 0,
    ...revision,
  }));
  setImmediate(() =>
    objects.setStatus(path, () => ({
      ...seen,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      ...(Object.keys(revision).length === 0 ? {} : { ...revision, currentRevision: revision.updateRevision }),
    })),
  );
}
