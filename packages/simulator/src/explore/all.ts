import { deployment, restart, SHAPES, type Small } from './kinds.ts';

const shapes = Object.keys(SHAPES) as (keyof typeof SHAPES)[];

/** Every small world that is explored until no state is left. */
export const EXPLORATIONS: readonly Small[] = [
  ...shapes.map((shape) => deployment(shape, { crash: 1, freeze: 1 })),
  ...shapes.map((shape) => deployment(shape, { late: 1 })),
  restart('stateful, routed', { crash: 1, death: 1, freeze: 1 }),
  restart('behind a gate', { crash: 1, death: 1 }),
  restart('stateless, routed', { crash: 1, death: 1 }),
  deployment('stateful, routed', { death: 1 }),
  // A candidate that an engine found after the death of the one that started it is watched as any other.
  deployment('stateless, routed', { crash: 1, death: 1, freeze: 1 }, { mortal: 'candidate' }),
];
