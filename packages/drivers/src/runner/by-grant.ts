import type { BubblewrapGrant, HostNativeGrant, RunnerPort } from '@idunn/release';
import type { RunnerOf } from './runner.ts';

/** The runner port over one runner for each kind of grant. */
export function createRunner(hostNative: RunnerOf<HostNativeGrant>, bubblewrap: RunnerOf<BubblewrapGrant>): RunnerPort {
  return {
    // The plan of a stage that is left behind is not known any more. Both know a step by the same mark, and this one
    // ends what a sandbox may have left besides.
    endAll: (stage) => bubblewrap.endAll(stage),
    run({ grant, ...request }, signal, line) {
      switch (grant.kind) {
        case 'host-native':
          return hostNative.run({ ...request, grant }, signal, line);
        case 'bubblewrap':
          return bubblewrap.run({ ...request, grant }, signal, line);
      }
    },
  };
}
