import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/**
 * I1: at no instant can two activations commit a write to a target's state. Each write is held against the rows as they
 * stood at that instant, and against every write before it.
 */
export function oneWriter(world: World): readonly Violation[] {
  const rows = new Map<string, { epoch: number; activation: string | null }>();
  const highest = new Map<string, number>();
  const found: Violation[] = [];
  for (const entry of world.ledger.entries) {
    if (entry.kind === 'row') rows.set(entry.store, { epoch: entry.epoch, activation: entry.activation });
    if (entry.kind !== 'write') continue;
    const target = world.processes.get(entry.activation)?.activation.target ?? '';
    const inFile = world.processes.get(entry.activation)?.gate !== 'none';
    const standing = [...rows].filter(
      ([store]) => store.startsWith(`${target}/`) && store.endsWith('/lease') === inFile,
    );
    const stray = standing.find(([, row]) => row.activation !== entry.activation || row.epoch !== entry.epoch);
    if (stray !== undefined || standing.length === 0) {
      const named = stray?.[1].activation ?? 'nobody';
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
