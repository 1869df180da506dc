import type { Judged, Violation } from './judged.ts';

/** What cannot overlap never does: nothing of such a target is started while another of it runs. */
export const apart = ({ world, shapes }: Judged): readonly Violation[] =>
  world.ledger.of('started').flatMap(({ atMs, activation, beside }): Violation[] => {
    const target = world.activations.get(activation)?.target ?? '';
    return shapes[target]?.alone === true && beside.length > 0
      ? [{ of: 'apart', atMs, detail: `${activation} was started beside ${beside.join(' and ')}` }]
      : [];
  });
