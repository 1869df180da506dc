import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/**
 * I1 of two fleets over one state root: the claim beside the state says whose it is. It never changes hands by itself,
 * and nobody but a launch of its owner's is ever named by a row.
 */
export function oneState(world: World): readonly Violation[] {
  const owners = new Map<string, string>();
  return world.ledger.entries.flatMap((entry): Violation[] => {
    if (entry.kind === 'claimed') {
      const owner = owners.get(entry.root) ?? entry.fleet;
      owners.set(entry.root, entry.fleet);
      if (owner === entry.fleet) return [];
      return [
        { of: 'I1', atMs: entry.atMs, detail: `${entry.fleet} claimed ${entry.root}, which ${owner} had claimed` },
      ];
    }
    if (entry.kind !== 'row' || entry.activation === null) return [];
    const root = entry.store.slice(0, entry.store.indexOf('/'));
    const fleet = world.fleets.get(entry.activation);
    const owner = owners.get(root);
    // A driver may have lied about the claim that it wrote: nobody else has claimed it then.
    if (owner === undefined || fleet === owner) return [];
    return [{ of: 'I1', atMs: entry.atMs, detail: `${entry.store} of ${owner} names ${entry.activation} of ${fleet}` }];
  });
}
