import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import type { ActivationFiles } from './activation-directory.ts';
import { carriersOf } from './carriers.ts';
import { type Hierarchy, members, populated } from './control-group.ts';
import { isDirectory } from './files.ts';
import { identify, type Standpoint, vital } from './identity.ts';
import { readStat } from './proc.ts';
import { readProcess, readTicket, type Ticket } from './ticket.ts';

export interface Search {
  readonly activation: string;
  readonly files: ActivationFiles;
  readonly from: Standpoint;
  readonly unified: Hierarchy | null;
  /** Where this activation's group would be, had one been made; `null` where no groups can be made. */
  readonly expectedGroup: string | null;
}

/** What was found: the process that was started, and whether anybody of its tree can be left. */
export interface Found {
  readonly identity: RuntimeIdentity;
  /** `ended`: the started process is gone, but its tree is not. */
  readonly main: 'alive' | 'ended';
}

/**
 * Looks for an activation's process: by the recorded identity, by its control group, by the public activation id in the
 * environment. `absent` is a proof that nobody can be left (I10); what cannot be proven is unknown.
 */
export async function findProcess(search: Search): Promise<Evidence<Found>> {
  const ticket = readTicket(search.files);
  if (ticket === null) return findWithoutTicket(search);
  if (ticket === 'damaged') return byEnvironment(search, null, 'its ticket cannot be read');
  if (ticket.bootId !== search.from.bootId) return absent;
  const recorded = readProcess(search.files);
  if (recorded !== null && recorded !== 'damaged') {
    const alive = vital(recorded, search.from);
    if (alive.kind === 'unknown') return alive;
    if (alive.kind === 'seen') return seen({ identity: recorded, main: 'alive' });
  }
  if (ticket.controlGroup !== null)
    return inGroup(search, ticket.controlGroup, recorded === 'damaged' ? null : recorded);
  return byEnvironment(search, ticket, 'it had no control group, so a descendant may live');
}

/**
 * Without a ticket nothing was ever spawned, as long as the directory itself is there to say so; what was retired and
 * seen gone is gone.
 */
async function findWithoutTicket(search: Search): Promise<Evidence<Found>> {
  if (isDirectory(search.files.own) || existsSync(search.files.gone)) return absent;
  if (search.expectedGroup !== null) return inGroup(search, search.expectedGroup, null);
  return byEnvironment(search, null, `its directory ${search.files.own} is missing`);
}

async function inGroup(search: Search, group: string, recorded: RuntimeIdentity | null): Promise<Evidence<Found>> {
  if (search.unified === null) return unknown('the control group hierarchy is not mounted any more');
  const directory = join(search.unified.mount, group);
  const living = populated(directory);
  if (living.kind !== 'seen') return living;
  if (recorded !== null) return seen({ identity: recorded, main: 'ended' });
  // Spawned and never recorded: the eldest process is the one that was started.
  const identities = members(directory).flatMap((pid) => {
    const identity = identify(pid, group, search.from);
    return identity.kind === 'seen' ? [identity.value] : [];
  });
  return eldest(identities) ?? unknown(`nobody of ${group} can be identified`);
}

/** Environments find; they never prove absence, because a program may have overwritten its own. */
async function byEnvironment(search: Search, ticket: Ticket | null, because: string): Promise<Evidence<Found>> {
  const found = eldest(await carriersOf(search.activation, search.from));
  if (found !== null) return found;
  return ticket?.singleProcess === true ? absent : unknown(because);
}

function eldest(identities: readonly RuntimeIdentity[]): Evidence<Found> | null {
  const [first] = identities.toSorted((a, b) => {
    const byStart = BigInt(a.startTime) - BigInt(b.startTime);
    // Within one clock tick a parent still comes before its child.
    return byStart === 0n ? Number(isParent(b.pid, a.pid)) - Number(isParent(a.pid, b.pid)) : Number(byStart);
  });
  return first === undefined ? null : seen({ identity: first, main: 'alive' });
}

function isParent(parent: number, child: number): boolean {
  const stat = readStat(child);
  return stat.kind === 'seen' && stat.value.parent === parent;
}
