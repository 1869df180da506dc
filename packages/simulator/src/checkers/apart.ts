import type { Judged, Violation } from './judged.ts';
import { forgotten } from './restored.ts';

/**
 * What cannot overlap never does: nothing of such a target is started while another of it runs. Where it keeps no
 * state there is no row that names whom put-back records know nothing of, and no port that could list who runs.
 */
export function apart({ world, shapes }: Judged): readonly Violation[] {
  const unknown = forgotten(world);
  return world.ledger.of('started').flatMap(({ atMs, activation, beside }): Violation[] => {
    const shape = shapes[world.activations.get(activation)?.target ?? ''];
    // What another fleet has started nobody here can know of before its claim.
    const own = beside.filter((other) => world.fleets.get(other) === world.fleets.get(activation));
    const known = shape?.stores === 0 ? own.filter((other) => !unknown.has(other)) : own;
    return shape?.alone === true && known.length > 0
      ? [{ of: 'apart', atMs, detail: `${activation} was started beside ${known.join(' and ')}` }]
      : [];
  });
}
