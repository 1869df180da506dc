import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';
import { ask, objectOf } from './answer.ts';
import type { KubeApi } from './api.ts';

/** Workloads are named `KIND/NAME`, or `KIND/NAME#CONTAINER` where a pod has several. */
export interface WorkloadRef {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly container: string | null;
}

export type WorkloadKind = keyof typeof WORKLOAD_KINDS;

export const WORKLOAD_KINDS = {
  deployment: { kind: 'Deployment', plural: 'deployments' },
  statefulset: { kind: 'StatefulSet', plural: 'statefulsets' },
  daemonset: { kind: 'DaemonSet', plural: 'daemonsets' },
} as const;

const container = z.object({ name: z.string(), image: z.string().default('') });
const counted = z.int().nonnegative().default(0);

/** What is read of a workload: the fields that are needed, as the API documents them. */
export const workloadSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.int().default(0),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({
    replicas: z.int().nonnegative().default(1),
    paused: z.boolean().default(false),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()).default({}) }).optional(),
    updateStrategy: z
      .object({
        type: z.string().default('RollingUpdate'),
        rollingUpdate: z.object({ partition: z.int().default(0) }).optional(),
      })
      .optional(),
    template: z.object({ spec: z.object({ containers: z.array(container).min(1) }) }),
  }),
  status: z
    .object({
      observedGeneration: z.int().default(0),
      replicas: counted,
      updatedReplicas: counted,
      readyReplicas: counted,
      availableReplicas: counted,
      currentRevision: z.string().optional(),
      updateRevision: z.string().optional(),
      desiredNumberScheduled: counted,
      updatedNumberScheduled: counted,
      numberAvailable: counted,
      conditions: z
        .array(
          z.object({
            type: z.string(),
            status: z.string(),
            reason: z.string().default(''),
            message: z.string().default(''),
          }),
        )
        .default([]),
    })
    .default({
      observedGeneration: 0,
      replicas: 0,
      updatedReplicas: 0,
      readyReplicas: 0,
      availableReplicas: 0,
      desiredNumberScheduled: 0,
      updatedNumberScheduled: 0,
      numberAvailable: 0,
      conditions: [],
    }),
});
export type KubeWorkload = z.infer<typeof workloadSchema>;

export function parseWorkload(text: string): Outcome<WorkloadRef> {
  const [, kind = '', name = '', picked] =
    /^([a-z]+)\/([a-z0-9][a-z0-9.-]{0,252})(?:#([a-z0-9-]{1,63}))?$/.exec(text) ?? [];
  if (Object.hasOwn(WORKLOAD_KINDS, kind)) {
    return ok({ kind: kind as WorkloadKind, name, container: picked ?? null });
  }
  const kinds = Object.keys(WORKLOAD_KINDS).join(', ');
  return refused(refusal('workload-name-unusable', `"${text}" is not KIND/NAME with one of ${kinds}.`));
}

export const workloadsPath = (namespace: string, kind: WorkloadKind): string =>
  `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${WORKLOAD_KINDS[kind].plural}`;

export const workloadPath = (namespace: string, { kind, name }: WorkloadRef): string =>
  `${workloadsPath(namespace, kind)}/${encodeURIComponent(name)}`;

export async function readWorkload(api: KubeApi, namespace: string, ref: WorkloadRef): Promise<Outcome<KubeWorkload>> {
  const asked = await ask(api, { method: 'GET', path: workloadPath(namespace, ref) });
  return objectOf(asked, workloadSchema, `${ref.kind}/${ref.name} in ${namespace}`);
}

/** The container that carries the release: the named one, the only one, or the one that bears the workload's name. */
export function releaseContainer(ref: WorkloadRef, workload: KubeWorkload): Outcome<{ name: string; image: string }> {
  const { containers } = workload.spec.template.spec;
  const wanted = ref.container ?? (containers.length === 1 ? containers[0]?.name : ref.name);
  const found = containers.find(({ name }) => name === wanted);
  if (found !== undefined) return ok(found);
  const names = containers.map(({ name }) => name).join(', ');
  return refused(
    refusal(
      'workload-name-unusable',
      `${ref.kind}/${ref.name} has the containers ${names}; name one: ${ref.kind}/${ref.name}#…`,
    ),
  );
}
