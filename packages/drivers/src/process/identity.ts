import { absent, type Evidence, seen, unknown } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import { hasOtherThreads, isErrno, messageOf, ownPidNamespace, readStat } from './proc.ts';

/** Where an identity is judged from: absence in /proc counts only on the same boot and in the same pid namespace. */
export interface Standpoint {
  readonly bootId: string;
  readonly pidNamespace: string;
}

export const ownStandpoint = (bootId: string): Standpoint => ({ bootId, pidNamespace: ownPidNamespace() });

/** The identity of a process that lives now. */
export function identify(pid: number, controlGroup: string | null, from: Standpoint): Evidence<RuntimeIdentity> {
  const stat = readStat(pid);
  if (stat.kind !== 'seen') return stat;
  return seen({ kind: 'linux-process', pid, startTime: stat.value.startTime, controlGroup, ...from });
}

/**
 * Whether exactly this process lives (F12): `absent` when it is proven gone, another process under its pid included;
 * `unknown` when /proc cannot answer for it (another namespace, hidepid).
 */
export function vital(identity: RuntimeIdentity, from: Standpoint): Evidence<'alive'> {
  if (identity.bootId !== from.bootId) return absent;
  if (identity.pidNamespace !== from.pidNamespace) {
    return unknown(`process ${identity.pid} belongs to another pid namespace, ${identity.pidNamespace}`);
  }
  const stat = readStat(identity.pid);
  switch (stat.kind) {
    case 'unknown':
      return stat;
    case 'absent':
      return confirmAbsence(identity.pid, identity.startTime);
    case 'seen': {
      if (stat.value.startTime !== identity.startTime) return absent;
      const dead = stat.value.state === 'Z' || stat.value.state === 'X';
      return dead && !hasOtherThreads(identity.pid) ? absent : seen('alive');
    }
  }
}

/** Nothing in /proc proves nothing under hidepid; only ESRCH does. */
function confirmAbsence(pid: number, startTime: string): Evidence<'alive'> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return absent;
    if (!isErrno(error, 'EPERM')) return unknown(messageOf(error));
  }
  // The pid exists after all: recycled in between, or hidden from us.
  const again = readStat(pid);
  return again.kind === 'seen' && again.value.startTime !== startTime
    ? absent
    : unknown(`process ${pid} exists but /proc does not show it`);
}

/** Signals exactly this process, or nobody: the identity is read again immediately before (F12). */
export function signal(identity: RuntimeIdentity, name: 'SIGTERM' | 'SIGKILL', from: Standpoint): void {
  if (vital(identity, from).kind !== 'seen') return;
  try {
    process.kill(identity.pid, name);
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}
