import type { World } from '../world/world.ts';
import { mayLie, mayOvertake } from './calm.ts';
import type { Judged, Violation } from './judged.ts';

/**
 * I3: what is told to be admitted is named by lease and route, each in the world itself, and both name one process. A
 * route leads to nobody before the lease names it.
 */
export const twoAuthorities = (judged: Judged): readonly Violation[] => [
  ...named(judged.world),
  ...routedFirst(judged),
];

const named = (world: World): readonly Violation[] =>
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

/**
 * Where a driver lies, a move of the lease may be believed that was not made. What is carried out late may land when
 * the lease has gone on already: then it had named whom the route leads to.
 */
function routedFirst({ world, scenario }: Judged): readonly Violation[] {
  if (mayLie(scenario) || scenario.rival !== undefined) return [];
  const rows = new Map<string, string | null>();
  const formerly = new Set<string>();
  const late = mayOvertake(scenario);
  return world.ledger.entries.flatMap((entry): Violation[] => {
    if (entry.kind === 'row') rows.set(entry.store, entry.activation);
    if (entry.kind === 'row' && entry.activation !== null && late) formerly.add(entry.activation);
    if (entry.kind !== 'routed') return [];
    return entry.activations.flatMap((activation): Violation[] => {
      const target = world.activations.get(activation)?.target ?? '';
      const own = [...rows].filter(([store]) => store.startsWith(`${target}/`)).map(([, holder]) => holder);
      if ((scenario.shapes[target]?.stores ?? 0) === 0 || own.includes(activation) || formerly.has(activation))
        return [];
      return [{ of: 'I3', atMs: entry.atMs, detail: `${activation} was routed before the lease named it` }];
    });
  });
}
