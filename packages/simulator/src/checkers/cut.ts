import type { World } from '../world/world.ts';
import { mayLie, mayMislead } from './calm.ts';
import type { Judged, Violation } from './judged.ts';
import { forgottenDeeds } from './restored.ts';

/**
 * I12: a program that knows nothing of Idunn is let finish what it serves before it is asked to end. Nothing is owed
 * where an answer of the proxy was lost or false: then it may not have held anything.
 */
export const cut = ({ world, scenario }: Judged): readonly Violation[] =>
  mayLie(scenario) || mayMislead(scenario)
    ? []
    : world.ledger
        .of('cut')
        .filter(({ activation }) => wasAdmitted(world, activation))
        .map(({ atMs, activation, requests }) => ({
          of: 'I12',
          atMs,
          detail: `${activation} was ended while it served ${requests} requests`,
        }));

function wasAdmitted(world: World, activation: string): boolean {
  const lost = forgottenDeeds(world);
  return world.ledger.of('told-admitted').some((entry) => entry.row === activation && !lost.has(entry));
}
