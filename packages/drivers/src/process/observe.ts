import { stat } from 'node:fs/promises';
import type { WorkloadHandle } from '@idunn/authority';
import { absent, type Digest, type Evidence, seen, unknown } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { ActivationFiles } from './activation-directory.ts';
import type { FileDigests } from './file-digests.ts';
import { standingOf } from './gate/standing.ts';
import { type Standpoint, vital } from './identity.ts';
import { messageOf } from './proc.ts';
import { readTicket } from './ticket.ts';

/**
 * What runs under a handle (I2): identity first and last, in between the bytes that execute, argv and the packaged
 * entry, or those of the launcher that stands at its gate. `absent` when exactly this process is gone.
 */
export async function observeProcess(
  handle: WorkloadHandle,
  release: Digest,
  files: ActivationFiles,
  digests: FileDigests,
  from: Standpoint,
): Promise<Evidence<ObservedRuntime>> {
  const { identity } = handle;
  const living = vital(identity, from);
  if (living.kind !== 'seen') return living;
  const ticket = readTicket(files);
  if (ticket === null || ticket === 'damaged') return unknown(`the ticket of ${handle.activation} cannot be read`);
  if (ticket.release !== release) return unknown(`it was started from release ${ticket.release}`);
  try {
    const executablePath = `/proc/${identity.pid}/exe`;
    const before = await standingOf(identity.pid, ticket, files);
    if (before.kind !== 'seen') return before;
    const { standing, argv } = before.value;
    const entryPath = standing === 'waiting' && ticket.gate !== undefined ? ticket.gate.launcher.entry : ticket.entry;
    const [executable, entry] = await Promise.all([
      digests.of(executablePath),
      entryPath === null ? null : digests.of(entryPath),
    ]);
    const still = await stat(executablePath, { bigint: true });
    if (String(still.dev) !== executable.device || String(still.ino) !== executable.inode) {
      return unknown('it became another program while it was observed');
    }
    const gate = standing === 'waiting' ? { gate: standing } : {};
    // A launcher and its program may share one executable: whose it was is told by an argv that stayed.
    const after = await standingOf(identity.pid, ticket, files);
    if (after.kind !== 'seen') return after;
    if (after.value.argv !== argv) return unknown('it became another program while it was observed');
    const alive = vital(identity, from);
    return alive.kind === 'seen' ? seen({ identity, executable: executable.digest, argv, entry, ...gate }) : alive;
  } catch (error) {
    // What cannot be read of a dead process is no fault.
    return vital(identity, from).kind === 'absent' ? absent : unknown(messageOf(error));
  }
}
