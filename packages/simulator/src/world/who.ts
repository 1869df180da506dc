import type { Process } from './process.ts';
import type { World } from './world.ts';

const living = (world: World, target: string): readonly Process[] =>
  [...world.processes.values()].filter((one) => one.alive && one.activation.target === target);

/** The one that holds the lease, or any that lives. */
export function holderOf(world: World, target: string): Process | undefined {
  const named = world.named(target)?.activation;
  const all = living(world, target);
  return all.find(({ id }) => id === named) ?? all[0];
}

/** The newest of those that do not hold the lease, or the newest that lives. */
export function candidateOf(world: World, target: string): Process | undefined {
  const named = world.named(target)?.activation;
  const all = living(world, target);
  return all.findLast(({ id }) => id !== named) ?? all.at(-1);
}
