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
  const ran = world.ledger.of('ran');
  for (const one of ran) if (!one.granted && !isNamed(world, one)) strangers.add(one.activation);
  const others = ran.filter((one) => one.granted && one.executable !== one.sealed);
  const unroutable = new Set([...strangers, ...others.map(({ activation }) => activation)]);
  return world.ledger.entries.flatMap((entry): Violation[] => {
    if (entry.kind === 'granted' && strangers.has(entry.activation)) {
      return [
        { of: 'I2', atMs: entry.atMs, detail: `${entry.activation} runs another binary and was granted the lease` },
      ];
    }
    const routed =
      entry.kind === 'routed' ? entry.activations.find((activation) => unroutable.has(activation)) : undefined;
    return routed === undefined
      ? []
      : [{ of: 'I2', atMs: entry.atMs, detail: `${routed} runs another binary and was routed` }];
  });
}

/** Between the last look at the gate and the move of the row nobody can see it pass by itself. */
const UNSEEN_MS = 5;

/** Once the row names it, what it does harms nobody: every other one was seen gone before. */
const isNamed = (world: World, ran: { readonly activation: string; readonly atMs: number }): boolean =>
  world.ledger.of('row').some(({ activation, atMs }) => activation === ran.activation && atMs - ran.atMs <= UNSEEN_MS);
