import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/** I3: what is told to be admitted is named by lease and route, each in the world itself, and both name one process. */
export const twoAuthorities = (world: World): readonly Violation[] =>
  [...world.ledger.of('told-admitted'), ...world.ledger.of('told-restored')].flatMap(
    ({ atMs, incarnation, row, route }): Violation[] => {
      const violation = (detail: string): Violation[] => [{ of: 'I3', atMs, detail }];
      const ofRow = row === null ? null : world.activations.get(row)?.incarnation;
      if (row !== null && ofRow !== incarnation) return violation(`the lease names ${row}, told was ${incarnation}`);
      if (route === null) return [];
      if (route.length === 0) return violation('the route names nobody');
      const astray = route.find((activation) => world.activations.get(activation)?.incarnation !== incarnation);
      if (astray !== undefined) return violation(`the route names ${astray}, told was ${incarnation}`);
      if (row !== null && route.some((activation) => activation !== row))
        return violation(`lease ${row}, route ${route.join()}`);
      return [];
    },
  );
