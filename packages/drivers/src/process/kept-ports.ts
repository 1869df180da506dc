import { filesNamed, keptNames } from './activation-directory.ts';
import { readIfThere } from './files.ts';
import { type Standpoint, vital } from './identity.ts';
import { namedIn, readActivation } from './mint.ts';
import type { ProcessDriverOptions } from './options.ts';
import { readProcess, readTicket } from './ticket.ts';

/**
 * Ports that daemons before this one promised, by activation: of those that were not started yet, as a spare, and of
 * those whose process is not seen gone. What ended keeps none: the next of a program that cannot overlap has the same.
 */
export async function keptPorts(
  { roots, fleet, machine, authorityKey }: ProcessDriverOptions,
  from: Standpoint,
): Promise<ReadonlyMap<string, number>> {
  const kept = new Map<string, number>();
  for (const name of await keptNames(roots.runtime)) {
    const files = filesNamed(roots.runtime, name);
    const named = namedIn((await readIfThere(files.activation)) ?? '');
    if (named === null) continue;
    const activation = await readActivation(files, { fleet, machine }, authorityKey, named);
    if (!activation.ok || activation.value.endpoint === null || isOver(files, from)) continue;
    kept.set(named, activation.value.endpoint.port);
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
