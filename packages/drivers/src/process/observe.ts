import { stat } from 'node:fs/promises';
import type { WorkloadHandle } from '@idunn/authority';
import { absent, type Digest, digestJson, type Evidence, seen, unknown } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { ActivationFiles } from './activation-directory.ts';
import type { FileDigests } from './file-digests.ts';
import { type Standpoint, vital } from './identity.ts';
import { messageOf, readArgv } from './proc.ts';
import { readTicket } from './ticket.ts';

/**
 * What runs under a handle (I2): identity first and last, in between the bytes that execute, argv and the packaged
 * entry. `absent` when exactly this process is gone.
 */
export async function observeProcess(
  handle: WorkloadHandle,
  release: Digest,
  files: ActivationFiles,
  digests: FileDigests,
  from: Standpoint,
): Promise<Evidence<ObservedRuntime>> {
  const { identity } = handle;
  const before = vital(identity, from);
  if (before.kind !== 'seen') return before;
  const ticket = await readTicket(files);
  if (ticket === null || ticket === 'damaged') return unknown(`the ticket of ${handle.activation} cannot be read`);
  if (ticket.release !== release) return unknown(`it was started from release ${ticket.release}`);
  try {
    const executablePath = `/proc/${identity.pid}/exe`;
    const [executable, words, entry] = await Promise.all([
      digests.of(executablePath),
      readArgv(identity.pid),
      ticket.entry === null ? null : digests.of(ticket.entry),
    ]);
    const argv = digestJson(words);
    const still = await stat(executablePath, { bigint: true });
    if (String(still.dev) !== executable.device || String(still.ino) !== executable.inode) {
      return unknown('it became another program while it was observed');
    }
    const after = vital(identity, from);
    return after.kind === 'seen' ? seen({ identity, executable: executable.digest, argv, entry }) : after;
  } catch (error) {
    // What cannot be read of a dead process is no fault.
    return vital(identity, from).kind === 'absent' ? absent : unknown(messageOf(error));
  }
}
