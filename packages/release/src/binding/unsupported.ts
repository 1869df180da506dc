import { isNot, type Unsupported } from '../configuration/features.ts';

const isTrue = (value: unknown): boolean => value === true;

/** What a binding can say and this version does not act on yet. */
export const unsupportedInBinding: readonly Unsupported[] = [
  { at: ['replicas'], when: isNot(1), feature: 'more than one replica' },
  { at: ['runner', '*', 'kind'], when: isNot('host-native', 'bubblewrap'), feature: 'runners in containers' },
  { at: ['runner', '*', 'image'], feature: 'runner images' },
  { at: ['runner', '*', 'devices', '*'], feature: 'devices of runners' },
  { at: ['roots', '*'], feature: 'roots of one target (the directories of fleet.toml hold for all)' },
  { at: ['state', 'transition'], when: isNot('none'), feature: 'state transitions' },
  { at: ['state', 'irreversible_cut'], when: isNot('refuse'), feature: 'irreversible cuts' },
  { at: ['state', 'backup_root'], feature: 'backup roots' },
  { at: ['workload', 'driver'], when: isNot('process'), feature: 'workload drivers other than "process"' },
  { at: ['workload', 'unit_namespace'], feature: 'unit namespaces' },
  { at: ['workload', 'release_root'], feature: 'static releases' },
  { at: ['workload', 'current_link'], feature: 'static releases' },
  { at: ['workload', 'carry'], feature: 'static releases' },
  { at: ['workload', 'network'], feature: 'network profiles of workloads' },
  { at: ['workload', 'mount', '*'], feature: 'mounts of workloads' },
  { at: ['workload', 'devices', '*'], feature: 'devices of workloads' },
  { at: ['external_capability', '*'], feature: 'external capability bindings' },
  { at: ['route', 'driver'], when: isNot('router'), feature: 'route drivers other than "router"' },
  { at: ['route', 'configuration'], feature: 'configuration destinations of route drivers' },
  { at: ['route', 'firewall'], when: isTrue, feature: 'firewall allowances' },
  { at: ['trust'], feature: 'trust-anchor stores (each target has its one signer)' },
  { at: ['limits', 'cpu_millis'], feature: 'CPU limits' },
];
