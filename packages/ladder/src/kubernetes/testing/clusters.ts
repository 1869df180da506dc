import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { systemClock, systemTimers } from '@idunn/kernel';
import { memoryAuditing, slotOf, valueOf, worldOf } from '../../guard/testing/world.ts';
import * as ladder from '../../index.ts';
import { connectCluster, type KubeApi, kubernetesOperations } from '../index.ts';
import { ApiServer } from './api-server.ts';
import { runControllers } from './controllers.ts';

/** Images that a cluster of its own can run without fetching anything from afar, and one that does not exist. */
export interface Images {
  readonly first: string;
  readonly second: string;
  readonly broken: string;
}

/** What the suite is run against: the server of the tests, or a cluster that `KUBECONFIG` names. */
export interface TestCluster {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly images: Images;
  /** How long one rollout may take, and how long a broken one is waited for. */
  readonly deadlineMs: number;
  readonly brokenMs: number;
  close(): Promise<void>;
}

export async function ownCluster(): Promise<TestCluster & { readonly server: ApiServer }> {
  const server = new ApiServer();
  runControllers(server.cluster);
  await server.start();
  const api = valueOf(await connectCluster({ kubeconfig: server.kubeconfig(), timers: systemTimers }));
  const image = (name: string): string => `registry.example.test/${name}:1`;
  return {
    server,
    api,
    namespace: 'orchard-qa',
    images: { first: image('first'), second: image('second'), broken: image('broken') },
    deadlineMs: 5_000,
    brokenMs: 5_000,
    close: () => server.close(),
  };
}

/** The cluster of a kubeconfig, in a namespace of its own. Deleting it afterwards is left to the cluster. */
export async function namedCluster(file: string): Promise<TestCluster> {
  const api = valueOf(await connectCluster({ kubeconfig: readFileSync(file, 'utf8'), timers: systemTimers }));
  const namespace = `idunn-ladder-${randomUUID().slice(0, 8)}`;
  return {
    api,
    namespace,
    images: {
      first: 'registry.k8s.io/pause:3.9',
      second: 'registry.k8s.io/pause:3.10',
      broken: 'registry.k8s.io/pause:absent',
    },
    deadlineMs: 120_000,
    brokenMs: 20_000,
    async close() {
      await api.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    },
  };
}

/** Guarded operations over the cluster, with a clearance for its namespace. */
export async function operated({ api, namespace }: TestCluster, more: { readonly conflicts?: 'take' } = {}) {
  const operations = kubernetesOperations({ api, clock: systemClock(), timers: systemTimers, ...more });
  const slots = [slotOf('qa', { namespace, hosts: ['qa.example.test'] })];
  const clearance = valueOf(await worldOf(ladder, slots).clear({ slot: 'qa' }));
  return { operations: ladder.guardedOperations(operations, memoryAuditing()), clearance };
}

export const deploymentText = (name: string, image: string, replicas = 2): string => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  replicas: ${replicas}
  progressDeadlineSeconds: 10
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: ${name}, image: "${image}" }] }
`;

export const namespaceText = (name: string): string => `
apiVersion: v1
kind: Namespace
metadata: { name: ${name} }
`;
