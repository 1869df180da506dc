import type { Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Judged, Violation } from './judged.ts';

/** What happened between the copy and its putting back: whatever Idunn knew of it went with the records. */
export function forgottenDeeds(world: World): ReadonlySet<Entry> {
  const entries = world.ledger.entries;
  const back = entries.findIndex(({ kind }) => kind === 'restored');
  const copied = entries.findLastIndex(({ kind }, index) => kind === 'backed-up' && index < back);
  return new Set(back === -1 ? [] : entries.slice(copied, back));
}

/**
 * Launches whose records went with those that were put back: Idunn cannot know of them, unless it comes to the same one
 * again, as to a spare that the older records keep.
 */
export function forgotten(world: World): ReadonlySet<string> {
  const forgetting = new Forgetting(world);
  for (const entry of world.ledger.entries) forgetting.take(entry);
  return forgetting.forgotten;
}

/** The same while the ledger is gone through: what is come to again was forgotten until then. */
export class Forgetting {
  readonly forgotten: Set<string>;
  #isBack = false;

  constructor(world: World) {
    this.forgotten = issuedIn([...forgottenDeeds(world)]);
  }

  take(entry: Entry): void {
    if (entry.kind === 'restored') this.#isBack = true;
    if (this.#isBack && this.forgotten.size > 0) for (const id of issuedIn([entry])) this.forgotten.delete(id);
  }
}

const issuedIn = (entries: readonly Entry[]): Set<string> =>
  new Set(
    entries.flatMap((entry) =>
      entry.kind === 'durable' ? entry.mutations.flatMap(({ key }) => (key.kind === 'activation' ? [key.id] : [])) : [],
    ),
  );

/**
 * I1 of records that are older than the world: nobody whom they do not know loses the lease while it lives, nor is
 * ended while it holds it. To write a launch down that runs already is not to know what it was granted; what had been
 * granted nothing is theirs.
 */
export function restored(world: World): readonly Violation[] {
  const deeds = [...forgottenDeeds(world)];
  const granted = new Set(deeds.flatMap((entry) => (entry.kind === 'row' ? [entry.activation] : [])));
  const unknown = new Set([...issuedIn(deeds)].filter((id) => granted.has(id)));
  const alive = new Set<string>();
  const holders = new Map<string, string | null>();
  let isBack = false;
  return world.ledger.entries.flatMap((entry): Violation[] => {
    const violation = (detail: string): Violation[] => [{ of: 'I1', atMs: entry.atMs, detail }];
    switch (entry.kind) {
      case 'restored':
        isBack = true;
        return [];
      case 'started':
        alive.add(entry.activation);
        return [];
      case 'ended': {
        alive.delete(entry.activation);
        const holds = [...holders.values()].includes(entry.activation);
        if (!isBack || !entry.asked || !holds || !unknown.has(entry.activation)) return [];
        return violation(`${entry.activation} held the lease and was ended, and no record knew of it`);
      }
      case 'row': {
        const before = holders.get(entry.store) ?? null;
        holders.set(entry.store, entry.activation);
        if (!isBack || before === null || before === entry.activation) return [];
        if (!unknown.has(before) || !alive.has(before)) return [];
        return violation(`the lease was taken from ${before}, which lives, and no record knew of it`);
      }
      default:
        return [];
    }
  });
}

/** What Idunn says where its records are older than the world: somebody whom it does not know stands there. */
const HOLDS: ReadonlySet<string> = new Set(['lease-row-unexpected', 'projection-foreign', 'unrecorded-process']);

/** Records that are older than the world hold a target, and its user is told so, instead of running two (I1). */
export const isHeld = ({ scenario, incidents }: Judged, target: string): boolean =>
  scenario.restored !== undefined && incidents.some((one) => one.subject === target && HOLDS.has(one.code));
