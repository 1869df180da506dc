import type { BubblewrapGrant, HostNativeGrant, RunnerPort } from '@idunn/release';
import type { RunnerOf } from './runner.ts';

/** The runner port over one runner for each kind of grant. */
export function createRunner(hostNative: RunnerOf<HostNativeGrant>, bubblewrap: RunnerOf<BubblewrapGrant>): RunnerPort {
  return {
    // A stage's steps may have run by both: the plan of a stage that is left behind is not known any more.
    async endAll(stage) {
      await hostNative.endAll(stage);
      await bubblewrap.endAll(stage);
    },
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
