import type { Refusal } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { SealedRelease } from '@idunn/release';
import type { WorkloadHandle } from '../ports/workload-port.ts';
import { because } from './failing.ts';

/** What runs is what was sealed and as it was launched, also when a program has replaced itself since (I2). */
export function otherBinary(release: SealedRelease, handle: WorkloadHandle, seen: ObservedRuntime): Refusal | null {
  if (seen.executable !== release.executableDigest) {
    return because('executable-mismatch', `Seen to run: ${seen.executable}; sealed: ${release.executableDigest}.`);
  }
  if ((seen.entry?.digest ?? null) !== (release.entry?.digest ?? null)) {
    return because('executable-mismatch', `The packaged entry that runs is ${seen.entry?.digest ?? 'none'}.`);
  }
  if (handle.argv !== undefined && handle.argv !== seen.argv) {
    return because('executable-mismatch', `It runs with other words than it was launched with: ${seen.argv}.`);
  }
  return null;
}
