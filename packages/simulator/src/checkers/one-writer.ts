import type { Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/**
 * I1: at no instant can two activations commit a write to a target's state. Each write is held against the rows as they
 * stood at that instant, and against every write before it. A program with a database of its own compares none of them:
 * it may write for as long as they name nobody else, whatever becomes of the epoch on the way back to it.
 */
export function oneWriter(world: World): readonly Violation[] {
  /** By target and place, the row of each store. */
  const rows = new Map<string, Map<string, Entry & { kind: 'row' }>>();
  const lastNamed = new Map<string, string>();
  const highest = new Map<string, number>();
  const found: Violation[] = [];
  for (const entry of world.ledger.entries) {
    if (entry.kind === 'row') {
      const place = placeOf(entry.store.slice(0, entry.store.indexOf('/')), entry.store.endsWith('/lease'));
      const known = rows.get(place) ?? new Map();
      rows.set(place, known.set(entry.store, entry));
      if (entry.activation !== null) lastNamed.set(entry.store, entry.activation);
    }
    if (entry.kind !== 'write') continue;
    const process = world.processes.get(entry.activation);
    const target = process?.activation.target ?? '';
    const standing = rows.get(placeOf(target, process?.gate !== 'none'));
    const isUnfenced = process?.behaviour === 'own-database';
    const stray = [...(standing?.values() ?? [])].find((row) =>
      isUnfenced
        ? lastNamed.get(row.store) !== entry.activation
        : row.activation !== entry.activation || row.epoch !== entry.epoch,
    );
    if (stray !== undefined || standing === undefined) {
      const named = stray?.activation ?? 'nobody';
      found.push({ of: 'I1', atMs: entry.atMs, detail: `${entry.activation} wrote while the row names ${named}` });
    }
    const before = highest.get(target) ?? 0;
    if (entry.epoch < before) {
      found.push({
        of: 'I1',
        atMs: entry.atMs,
        detail: `${entry.activation} wrote under epoch ${entry.epoch} after ${before}`,
      });
    }
    highest.set(target, Math.max(before, entry.epoch));
  }
  return found;
}

/** Where the rows of a target stand: in its stores, or in a file beside them. */
const placeOf = (target: string, inFile: boolean): string => (inFile ? `${target}/lease` : target);
