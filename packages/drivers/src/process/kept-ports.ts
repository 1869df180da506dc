import { filesNamed, keptNames } from './activation-directory.ts';
import { readOwnIfThere } from './files.ts';
import { type Standpoint, vital } from './identity.ts';
import { saidIn } from './mint.ts';
import { readProcess, readTicket } from './ticket.ts';

/**
 * Ports that daemons before this one promised, by activation: of those that were not started yet, as a spare, and of
 * those whose process is not seen gone. What ended keeps none: the next of a program that cannot overlap has the same.
 * A port is only passed over for what is read here, so no signature is looked at.
 */
export async function keptPorts(runtime: string, from: Standpoint): Promise<ReadonlyMap<string, number>> {
  const kept = new Map<string, number>();
  for (const name of await keptNames(runtime)) {
    const files = filesNamed(runtime, name);
    const said = saidIn(readOwnIfThere(files.activation) ?? '');
    if (said === null || said.endpoint === null || isOver(files, from)) continue;
    kept.set(said.activation, said.endpoint.port);
  }
  return kept;
}

/** It was started, and is seen gone; what cannot be judged is not over (I10). */
function isOver(files: ReturnType<typeof filesNamed>, from: Standpoint): boolean {
  const ticket = readTicket(files);
  if (ticket === null || ticket === 'damaged') return false;
  if (ticket.bootId !== from.bootId) return true;
  const recorded = readProcess(files);
  return recorded !== null && recorded !== 'damaged' && vital(recorded, from).kind === 'absent';
}
