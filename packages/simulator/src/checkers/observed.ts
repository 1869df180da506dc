import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/** I4: nothing is told admitted for which the observer never signed Ready. */
export function observedNotConfigured(world: World): readonly Violation[] {
  const signed = world.ledger.of('ready');
  return world.ledger
    .of('told-admitted')
    .flatMap(({ atMs, incarnation }): Violation[] =>
      signed.some((ready) => ready.incarnation === incarnation && ready.atMs <= atMs)
        ? []
        : [{ of: 'I4', atMs, detail: `no Ready was ever signed for ${incarnation}` }],
    );
}
