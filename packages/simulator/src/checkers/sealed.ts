import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/** I2: nothing that is not what was sealed is ever granted the lease or the route. */
export function sealed(world: World): readonly Violation[] {
  const strangers = new Set(
    world.ledger
      .of('started')
      .filter((entry) => entry.executable !== entry.sealed)
      .map(({ activation }) => activation),
  );
  return world.ledger.entries.flatMap((entry): Violation[] => {
    if (entry.kind === 'granted' && strangers.has(entry.activation)) {
      return [
        { of: 'I2', atMs: entry.atMs, detail: `${entry.activation} runs another binary and was granted the lease` },
      ];
    }
    const routed =
      entry.kind === 'routed' ? entry.activations.find((activation) => strangers.has(activation)) : undefined;
    return routed === undefined
      ? []
      : [{ of: 'I2', atMs: entry.atMs, detail: `${routed} runs another binary and was routed` }];
  });
}
