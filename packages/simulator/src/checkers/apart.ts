import type { Judged, Violation } from './judged.ts';

/** What cannot overlap never does: nothing of such a target is started while another of it runs. */
export function apart({ world, shapes }: Judged): readonly Violation[] {
  return world.ledger.of('started').flatMap(({ atMs, activation, beside }): Violation[] => {
    const shape = shapes[world.activations.get(activation)?.target ?? ''];
    // What another fleet has started nobody here can know of before its claim.
    const own = beside.filter((other) => world.fleets.get(other) === world.fleets.get(activation));
    return shape?.alone === true && own.length > 0
      ? [{ of: 'apart', atMs, detail: `${activation} was started beside ${own.join(' and ')}` }]
      : [];
  });
}
