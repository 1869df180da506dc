import { absent, type Evidence, type Outcome, ok, seen, unknown } from '@idunn/kernel';
import { z } from 'zod';
import type { Workload } from '../operations/port.ts';
import type { KubeApi } from './api.ts';
import { accepted, applyFields, type FieldConflicts, MANAGERS } from './change.ts';
import { listAll } from './list.ts';
import {
  parseWorkload,
  readWorkload,
  releaseContainer,
  WORKLOAD_KINDS,
  type WorkloadKind,
  workloadPath,
  workloadSchema,
  workloadsPath,
} from './workload.ts';

/** The image that a workload is set to run. */
export async function currentImage(api: KubeApi, namespace: string, text: string): Promise<Evidence<string>> {
  const ref = parseWorkload(text);
  if (!ref.ok) return unknown(ref.refusal.reason);
  const workload = await readWorkload(api, namespace, ref.value);
  if (!workload.ok) {
    return workload.refusal.code === 'cluster-object-absent' ? absent : unknown(workload.refusal.reason);
  }
  const container = releaseContainer(ref.value, workload.value);
  return container.ok ? seen(container.value.image) : unknown(container.refusal.reason);
}

/** Sets one container's image by server-side apply, and touches nothing else of the workload. */
export async function setImage(
  api: KubeApi,
  to: { readonly namespace: string; readonly workload: string; readonly release: string },
  conflicts: FieldConflicts,
): Promise<Outcome<void>> {
  const ref = parseWorkload(to.workload);
  if (!ref.ok) return ref;
  const { kind, name } = ref.value;
  const workload = await readWorkload(api, to.namespace, ref.value);
  if (!workload.ok) return workload;
  const container = releaseContainer(ref.value, workload.value);
  if (!container.ok) return container;
  const fields = {
    apiVersion: 'apps/v1',
    kind: WORKLOAD_KINDS[kind].kind,
    // The same object as was read: one that was deleted and made anew under the name is another one.
    metadata: { name, namespace: to.namespace, uid: workload.value.metadata.uid },
    spec: { template: { spec: { containers: [{ name: container.value.name, image: to.release }] } } },
  };
  return accepted(
    await applyFields(api, workloadPath(to.namespace, ref.value), fields, { manager: MANAGERS.release, conflicts }),
    to.workload,
  );
}

/** Everything that runs in a namespace, by kind and name. */
export async function listWorkloads(api: KubeApi, namespace: string): Promise<Outcome<readonly Workload[]>> {
  const found: Workload[] = [];
  for (const kind of Object.keys(WORKLOAD_KINDS) as WorkloadKind[]) {
    const listed = await listAll(api, workloadsPath(namespace, kind), workloadSchema);
    if (!listed.ok) return listed;
    for (const { metadata, spec, status } of listed.value.items) {
      found.push({
        name: `${kind}/${metadata.name}`,
        release: spec.template.spec.containers.map(({ image }) => image).join(', '),
        replicas: kind === 'daemonset' ? status.desiredNumberScheduled : spec.replicas,
      });
    }
  }
  return ok(found);
}

const namespaceSchema = z.object({ metadata: z.object({ name: z.string() }) });

export async function listNamespaces(api: KubeApi): Promise<Outcome<readonly string[]>> {
  const listed = await listAll(api, '/api/v1/namespaces', namespaceSchema);
  return listed.ok ? ok(listed.value.items.map(({ metadata }) => metadata.name)) : listed;
}
