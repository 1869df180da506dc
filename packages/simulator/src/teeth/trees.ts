import type { EnginePorts } from '@idunn/authority';
import { ALONE, diesOnce, GATED } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** Takes the end of the process that was started for the end of its whole tree. */
const byTheParentAlone = (ports: EnginePorts): EnginePorts => ({
  ...ports,
  workload: {
    ...ports.workload,
    stop: async (handle, graceMs) =>
      (await ports.workload.observe(handle, 'sha256:any')).kind === 'absent'
        ? { kind: 'gone', proof: 'tree-empty', forced: false }
        : ports.workload.stop(handle, graceMs),
  },
});

/** Broken variants that leave somebody of a tree behind. */
export const TEETH_OF_TREES: readonly Tooth[] = [
  {
    name: 'forgets what a dead program forked',
    breaks: 'I1',
    scenario: diesOnce('forks-a-writer', GATED),
    ports: byTheParentAlone,
  },
  {
    name: 'starts it beside a child of what it excludes',
    breaks: 'apart',
    scenario: diesOnce('forks-a-writer', ALONE),
    ports: byTheParentAlone,
  },
];
