export type { KubeAnswer, KubeApi, KubeRequest, KubeWatch } from './api.ts';
export type { FieldConflicts } from './change.ts';
export { type ClusterOptions, connectCluster } from './connect.ts';
export { type StoredRelease, storedReleaseValues, valueDrift } from './helm.ts';
export { type KubernetesOptions, kubernetesOperations } from './operations.ts';
