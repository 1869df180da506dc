import { noteJudged, noteReady } from './observer.ts';
import { whenAwake } from './pause.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** How long a program takes to find an observer that is there again. */
const JOIN_MS = 20;

/** Another observer, which has heard nobody: each program that lives speaks to it as soon as it has found it. */
export function observerReturned(world: World): void {
  world.observers += 1;
  const { observers } = world;
  for (const process of world.processes.values()) {
    process.joined = false;
    world.time.after(JOIN_MS, () =>
      whenAwake(process, () => {
        if (observers === world.observers) join(world, process);
      }),
    );
  }
  for (const key of world.projections.keys()) world.listeners.correlated(key);
}

function join(world: World, process: Process): void {
  if (!process.alive || !world.observerUp) return;
  process.joined = true;
  const { incarnation } = process.activation;
  noteJudged(world, incarnation);
  noteReady(world, incarnation);
  world.listeners.correlated(incarnation);
}
