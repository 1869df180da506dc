import { type Clock, type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { ReleaseOperations, ReleaseSource } from '../operations/port.ts';
import type { KubeApi } from './api.ts';
import { awaitRollout } from './await-rollout.ts';
import type { FieldConflicts } from './change.ts';
import { applyManifests } from './manifests.ts';
import { currentImage, listNamespaces, listWorkloads, setImage } from './release.ts';
import { dropRoute, hostOwner, routeHost } from './routes.ts';
import { sleepNamespace, wakeNamespace } from './sleep.ts';
import { parseWorkload } from './workload.ts';

export interface KubernetesOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly timers: Timers;
  /** What happens to a field that another manager owns; `refuse` unless said. */
  readonly conflicts?: FieldConflicts;
  /** The class of the ingresses that are made; the cluster's own default when it is left out. */
  readonly ingressClass?: string;
}

/**
 * Release operations over one Kubernetes cluster: a release is an image reference, a workload is `KIND/NAME` or
 * `KIND/NAME#CONTAINER`. Give them to `guardedOperations`.
 *
 * @example
 * const api = await connectCluster({ kubeconfig, timers: systemTimers });
 * const cluster = guardedOperations(kubernetesOperations({ api: api.value, clock, timers }), auditing);
 */
export function kubernetesOperations(options: KubernetesOptions): ReleaseOperations {
  const { api, conflicts = 'refuse', ingressClass = null } = options;
  return {
    description: `the cluster at ${api.server}`,
    currentRelease: ({ namespace, workload }) => currentImage(api, namespace, workload),
    workloads: ({ namespace }) => listWorkloads(api, namespace),
    namespaces: () => listNamespaces(api),
    exported: async () => ok(null),
    hostOwner: (host) => hostOwner(api, host),
    async awaitRollout({ namespace, workload, deadlineMs }, progress) {
      const ref = parseWorkload(workload);
      if (!ref.ok) return { kind: 'failed', because: ref.refusal.reason };
      return awaitRollout(options, { namespace, ref: ref.value, deadlineMs }, progress);
    },
    setRelease: (_, to) => setImage(api, to, conflicts),
    apply: (_, { namespace, source }) => applySource(api, namespace, source, conflicts),
    sleep: (_, at) => sleepNamespace(options, at),
    wake: (_, at) => wakeNamespace(options, at),
    routeHost: (_, to) => routeHost(api, to, { conflicts, ingressClass }),
    dropRoute: (_, { namespace, host }) => dropRoute(api, namespace, host),
  };
}

async function applySource(
  api: KubeApi,
  namespace: string,
  source: ReleaseSource,
  conflicts: FieldConflicts,
): Promise<Outcome<void>> {
  switch (source.kind) {
    case 'manifests':
      return applyManifests(api, namespace, source.documents, conflicts);
    case 'chart':
      return refused(refusal('chart-not-rendered', `Chart ${source.chart} of ${source.release} is a declaration.`));
    case 'build':
      return refused(refusal('source-not-for-cluster', `Build ${source.build} is of a fleet.`));
  }
}
