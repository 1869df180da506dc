import { type Evidence, seen, unknown } from '@idunn/kernel';
import { filesNamed, isSegment, keptNames } from './activation-directory.ts';
import { readTicket } from './ticket.ts';

/**
 * The launches of a target by their tickets: each is taken before anything is spawned, and is the last to go when its
 * activation is retired. A ticket that cannot be read may be anybody's (I10).
 */
export async function launchesOf(runtime: string, target: string): Promise<Evidence<readonly string[]>> {
  const launches: string[] = [];
  for (const name of await keptNames(runtime)) {
    if (!isSegment(name)) continue;
    const files = filesNamed(runtime, name);
    const ticket = readTicket(files);
    if (ticket === 'damaged') return unknown(`the ticket in ${files.own} cannot be read`);
    if (ticket?.target === target) launches.push(ticket.activation);
  }
  return seen(launches);
}
