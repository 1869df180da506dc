import { sealedFor } from '../world/sources.ts';
import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/**
 * I1 and I7 of programs that compare no row: one runs only when it was let, while the lease names it, beside nobody
 * else of its target, and only after its build was seen to start on a copy.
 */
export function gated(world: World): readonly Violation[] {
  return [...beside(world), ...unrehearsed(world)];
}

function beside(world: World): readonly Violation[] {
  const rows = new Map<string, string | null>();
  const found: Violation[] = [];
  for (const entry of world.ledger.entries) {
    if (entry.kind === 'row') rows.set(entry.store, entry.activation);
    if (entry.kind !== 'ran' || !entry.granted) continue;
    const { activation, atMs } = entry;
    const target = world.activations.get(activation)?.target ?? '';
    const astray = [...rows].find(([store, named]) => store === `${target}/lease` && named !== activation);
    if (astray !== undefined) {
      found.push({ of: 'I1', atMs, detail: `${activation} ran while ${astray[0]} names ${astray[1] ?? 'nobody'}` });
    }
    if (entry.beside.length > 0) {
      found.push({ of: 'I1', atMs, detail: `${activation} ran beside ${entry.beside.join(' and ')}` });
    }
  }
  return found;
}

function unrehearsed(world: World): readonly Violation[] {
  const rehearsed = world.ledger.of('rehearsed').filter(({ passed }) => passed);
  return world.ledger.of('started').flatMap(({ atMs, activation }): Violation[] => {
    const process = world.processes.get(activation);
    if (process === undefined || process.gate === 'none') return [];
    const revision = world.projections.get(process.activation.incarnation)?.expected.revision ?? '';
    const plan = world.plans.get(revision);
    // Withdrawn since: what it was can no longer be looked up, and another look was had when it was started.
    if (plan === undefined) return [];
    const { release } = sealedFor(plan);
    const seen = rehearsed.some((one) => one.release === release && one.atMs <= atMs);
    return seen ? [] : [{ of: 'I7', atMs, detail: `${activation} was started and its build never rehearsed` }];
  });
}
