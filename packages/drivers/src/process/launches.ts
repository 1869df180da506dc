import { join } from 'node:path';
import { type Evidence, seen, unknown } from '@idunn/kernel';
import { isSegment, ticketIn } from './activation-directory.ts';
import { namesIn } from './files.ts';
import { readTicket } from './ticket.ts';

/**
 * The launches of a target by their tickets: each is taken before anything is spawned, and is the last to go when its
 * activation is retired. A ticket that cannot be read may be anybody's (I10).
 */
export async function launchesOf(runtime: string, target: string): Promise<Evidence<readonly string[]>> {
  const launches: string[] = [];
  const own = join(runtime, 'own');
  for (const name of await namesIn(own)) {
    if (!isSegment(name)) continue;
    const ticket = readTicket({ ticket: ticketIn(join(own, name)) });
    if (ticket === 'damaged') return unknown(`the ticket in ${join(own, name)} cannot be read`);
    if (ticket?.target === target) launches.push(ticket.activation);
  }
  return seen(launches);
}
