import type { Process } from './process.ts';
import type { World } from './world.ts';

/**
 * A process that is stopped for a while, and goes on: it does nothing meanwhile, and what it was asked for meanwhile it
 * does when it goes on, whatever has become of the world (I1).
 */
export function pause(world: World, process: Process, forMs: number): void {
  if (!process.alive || process.paused) return;
  process.paused = true;
  process.quietSinceMs = world.time.monotonicMs;
  world.time.after(forMs, () => {
    process.paused = false;
    process.quietSinceMs = null;
    for (const deed of process.inbox.splice(0)) if (process.alive) deed();
  });
}

/** Has a process do something as soon as it runs. */
export function whenAwake(process: Process, deed: () => void): void {
  if (process.paused) process.inbox.push(deed);
  else deed();
}
