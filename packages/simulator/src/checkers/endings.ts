import type { Judged, Violation } from './judged.ts';
import { forgotten } from './restored.ts';

/** Every transaction ends, and nothing is left running that no authority names (F16). */
export function endings({ world, ended, results, deploys }: Judged): readonly Violation[] {
  const atMs = world.time.nowMs;
  const open = results.flatMap((result, index): Violation[] => {
    const deploy = deploys[index];
    return result === null
      ? [{ of: 'ends', atMs, detail: `deploy ${index} of ${deploy?.target} (${deploy?.behaviour}) never ended` }]
      : [];
  });
  if (!ended || results.some((result) => result?.outcome === 'operator-required')) return open;
  const unknown = forgotten(world);
  const byTarget = Map.groupBy(
    [...world.processes.values()].filter(({ id, treeLives }) => treeLives && !unknown.has(id)),
    ({ activation }) => activation.target,
  );
  const left = [...byTarget].flatMap(([target, living]): Violation[] =>
    living.length <= 1
      ? []
      : [{ of: 'leftover', atMs, detail: `${target} ends with ${living.map(({ id }) => id).join(' and ')} alive` }],
  );
  return [...open, ...left];
}
