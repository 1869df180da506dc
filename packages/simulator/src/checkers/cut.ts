import type { Scenario } from '../scenario.ts';
import type { FaultName } from '../strikes.ts';
import type { World } from '../world/world.ts';
import type { Judged, Violation } from './judged.ts';

/**
 * I12: a program that knows nothing of Idunn is let finish what it serves before it is asked to end. Nothing is owed
 * where an answer of the proxy was lost or false: then it may not have held anything.
 */
export const cut = ({ world, scenario }: Judged): readonly Violation[] =>
  mayMislead(scenario)
    ? []
    : world.ledger
        .of('cut')
        .filter(({ activation }) => wasAdmitted(world, activation))
        .map(({ atMs, activation, requests }) => ({
          of: 'I12',
          atMs,
          detail: `${activation} was ended while it served ${requests} requests`,
        }));

const MISLEADING: ReadonlySet<FaultName | undefined> = new Set([
  'answer-lost',
  'effect-overtaken',
  'effect-claimed',
  'effect-denied',
  'reading-garbled',
]);

function mayMislead({ lostChance, wrongChance = 0, overtakenChance = 0, strikes = [], meets }: Scenario): boolean {
  const chances = lostChance + wrongChance + overtakenChance;
  return chances > 0 || [meets?.fault, ...strikes.map(({ fault }) => fault)].some((fault) => MISLEADING.has(fault));
}

const wasAdmitted = (world: World, activation: string): boolean =>
  world.ledger.of('told-admitted').some(({ row }) => row === activation);
