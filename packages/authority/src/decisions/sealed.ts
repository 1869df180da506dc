import type { Refusal } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { HostInterpreter, Plan, SealedRelease } from '@idunn/release';
import type { WorkloadHandle } from '../ports/workload-port.ts';
import type { Running, Subject } from '../records/body.ts';
import { type DeployEvidence, incarnationOf, planOf } from './evidence.ts';
import { because } from './failing.ts';
import { isGated } from './manner.ts';

/** What may be taken of a launch: `back` brings back what was admitted before. */
export interface Taking {
  readonly plan: Plan;
  readonly release: SealedRelease;
  readonly back: boolean;
}

/**
 * What runs is what was sealed and as it was launched, also when a program has replaced itself since (I2). What was
 * admitted under the host's own interpreter is brought back under the one that the host has now, with an incident (I9).
 */
export function otherBinary(taking: Taking, handle: WorkloadHandle, seen: ObservedRuntime): Refusal | null {
  const { plan, release, back } = taking;
  const other = otherProcess(handle, seen);
  if (other !== null) return other;
  if (seen.executable !== release.executableDigest && !(back && hostInterpreter(plan) !== null)) {
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

/** What was observed is the process that was started, whatever program and presence agree on (I2, I4). */
function otherProcess({ activation, identity }: WorkloadHandle, seen: ObservedRuntime): Refusal | null {
  const { pid, startTime, bootId } = seen.identity;
  if (pid === identity.pid && startTime === identity.startTime && bootId === identity.bootId) return null;
  const reason = `Observed: process ${pid}, begun at ${startTime}; ${activation} was started as ${identity.pid}.`;
  return because('runtime-identity-mismatch', reason);
}

const hostInterpreter = ({ launch: { program } }: Plan): HostInterpreter | null =>
  program.kind === 'interpreter' && program.origin === 'host' ? program : null;

/** The host's interpreter that runs here is not the one that was sealed; `null` while it is. */
export function interpreterChanged(plan: Plan, { observed }: Pick<Running, 'observed'>): HostInterpreter | null {
  const sealed = hostInterpreter(plan);
  return sealed === null || observed.gate === 'waiting' || observed.executable === sealed.digest ? null : sealed;
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
  back: boolean,
): Refusal | null {
  const plan = planOf(e, subject.plan);
  const awaitsGrant = isGated(plan) && observed.gate === 'waiting';
  const { release } = incarnationOf(e, subject.incarnation);
  if (!awaitsGrant) return otherBinary({ plan, release, back }, handle, seen);
  if (seen.gate === 'waiting') return otherProcess(handle, seen);
  return because('ran-before-grant', `${handle.activation} passed its gate; nobody granted it anything.`);
}
