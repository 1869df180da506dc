import type { Judged, Violation } from './judged.ts';
import { forgotten, isHeld } from './restored.ts';

/**
 * Every transaction ends, and nothing is left running that no authority names (F16). Where the lease names somebody
 * whom records that were put back do not know, nobody is granted it or ended for it until an operator says so.
 */
export function endings(judged: Judged): readonly Violation[] {
  const { world, ended, results, deploys } = judged;
  const atMs = world.time.nowMs;
  const open = results.flatMap((result, index): Violation[] => {
    const deploy = deploys[index];
    // What a person was called for may wait behind it as long as that person does.
    return result === null && !(deploy !== undefined && isHeld(judged, deploy.target))
      ? [{ of: 'ends', atMs, detail: `deploy ${index} of ${deploy?.target} (${deploy?.behaviour}) never ended` }]
      : [];
  });
  if (!ended) return open;
  const stuck = stuckIn(world);
  const unknown = forgotten(world);
  const byTarget = Map.groupBy(
    [...world.processes.values()].filter(({ id, treeLives }) => treeLives && !unknown.has(id)),
    ({ activation }) => activation.target,
  );
  const left = [...byTarget].flatMap(([target, living]): Violation[] =>
    living.length <= 1 || stuck.has(target) || isHeld(judged, target)
      ? []
      : [{ of: 'leftover', atMs, detail: `${target} ends with ${living.map(({ id }) => id).join(' and ')} alive` }],
  );
  return [...open, ...left];
}

/**
 * Targets of which nobody came forward or back: the last one is launched again and again beside the one before it. An
 * engine that died over the telling of it leaves the next to say so, by the incident.
 */
function stuckIn({ ledger }: Judged['world']): ReadonlySet<string> {
  const stuck = new Set<string>();
  for (const entry of ledger.entries) {
    if (entry.kind === 'told-admitted') stuck.delete(entry.target);
    if (entry.kind === 'told-ended' && entry.outcome === 'operator-required') stuck.add(entry.target);
    if (entry.kind === 'told-incident' && entry.code === 'operator-required' && entry.open) stuck.add(entry.target);
  }
  return stuck;
}
