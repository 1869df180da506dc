export function endFleet(options: {
  readonly fleet: string;
  readonly runtime: string;
  readonly graceMs?: number;
}): Promise<
  { readonly what: 'daemon' | 'workload' | 'router' | 'attendant'; readonly pid: number; readonly forced: boolean }[]
>;

export function fleetProcesses(options: { readonly fleet: string; readonly runtime: string }): {
  readonly what: 'daemon' | 'workload' | 'router' | 'attendant';
  readonly pid: number;
  readonly words: readonly string[];
}[];
