import type { Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Judged, Violation } from './judged.ts';

/**
 * Launches whose records went with those that were put back: Idunn cannot know of them, unless it comes to the same one
 * again, as to a spare that the older records keep.
 */
export function forgotten(world: World): ReadonlySet<string> {
  const lost = new Set<string>();
  if (world.ledger.of('restored').length === 0) return lost;
  let since = new Set<string>();
  for (const entry of world.ledger.entries) {
    if (entry.kind === 'backed-up') since = new Set();
    if (entry.kind === 'durable') {
      for (const { key } of entry.mutations) {
        if (key.kind !== 'activation') continue;
        since.add(key.id);
        lost.delete(key.id);
      }
    }
    if (entry.kind === 'restored') for (const activation of since) lost.add(activation);
  }
  return lost;
}

/** What was told admitted or restored between the copy and its putting back: that went with the records as well. */
export function forgottenWords(world: World): ReadonlySet<Entry> {
  const lost = new Set<Entry>();
  let since: Entry[] = [];
  for (const entry of world.ledger.entries) {
    if (entry.kind === 'backed-up') since = [];
    if (entry.kind === 'told-admitted' || entry.kind === 'told-restored') since.push(entry);
    if (entry.kind === 'restored') for (const told of since) lost.add(told);
  }
  return lost;
}

/**
 * I1 of records that are older than the world: nobody whom they do not know loses the lease while it lives, nor is
 * ended while it holds it.
 */
export function restored(world: World): readonly Violation[] {
  const unknown = forgotten(world);
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
