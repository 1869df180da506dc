import type { Refusal } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { SealedRelease } from '@idunn/release';
import type { WorkloadHandle } from '../ports/workload-port.ts';
import type { Running, Subject } from '../records/body.ts';
import { type DeployEvidence, incarnationOf, planOf } from './evidence.ts';
import { because } from './failing.ts';
import { isGated } from './manner.ts';

/** What runs is what was sealed and as it was launched, also when a program has replaced itself since (I2). */
export function otherBinary(release: SealedRelease, handle: WorkloadHandle, seen: ObservedRuntime): Refusal | null {
  if (seen.executable !== release.executableDigest) {
    return because('executable-mismatch', `Seen to run: ${seen.executable}; sealed: ${release.executableDigest}.`);
  }
  if ((seen.entry?.digest ?? null) !== (release.entry?.digest ?? null)) {
    return because(
      'executable-mismatch',
      `The packaged entry on the disk is ${seen.entry?.digest ?? 'none'}; sealed: ${release.entry?.digest ?? 'none'}.`,
    );
  }
  if (handle.argv !== undefined && handle.argv !== seen.argv) {
    return because('executable-mismatch', `It runs with other words than it was launched with: ${seen.argv}.`);
  }
  return null;
}

/**
 * What this launch may be seen to run before it is granted anything: the sealed program, or for a gated start its
 * launcher alone. A program that runs though nobody opened its gate may be writing beside the incumbent (I1).
 */
export function otherThanLaunched(
  e: DeployEvidence,
  subject: Subject,
  { handle, observed }: Pick<Running, 'handle' | 'observed'>,
  seen: ObservedRuntime,
): Refusal | null {
  const awaitsGrant = isGated(planOf(e, subject.plan)) && observed.gate === 'waiting';
  if (!awaitsGrant) return otherBinary(incarnationOf(e, subject.incarnation).release, handle, seen);
  if (seen.gate === 'waiting') return null;
  return because('ran-before-grant', `${handle.activation} passed its gate; nobody granted it anything.`);
}
