import { correlationOf, hear } from './observer.ts';
import { whenAwake } from './pause.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** Words that a program remembers to have said. */
const PAST_LIMIT = 6;

/** A presence, on every change, to the observer and on the lease connection. */
export function say(world: World, process: Process, state: NonNullable<Process['state']>): void {
  if (!process.alive) return;
  if (process.paused) return whenAwake(process, () => say(world, process, state));
  const before = process.presence();
  if (before !== null) process.past.push(before);
  if (process.past.length > PAST_LIMIT) process.past.shift();
  process.state = state;
  process.sequence += 1;
  world.listeners.said(process);
  const { incarnation } = process.activation;
  hear(world, process);
  world.time.after(1, () => {
    if (correlationOf(world, incarnation) !== null) world.listeners.correlated(incarnation);
  });
}
