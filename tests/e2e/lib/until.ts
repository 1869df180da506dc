import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Longer than anything that is waited for may take on a machine at work. */
const LIMIT_MS = 60_000;
const AGAIN_MS = 25;

/**
 * Looks again and again until what it sees holds, and answers that. For what no event tells of; rejects after a minute
 * with what was seen last, so that what never comes is a failure with a name.
 */
export async function until<T>(look: () => T | Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > deadline) {
      throw new Error(`waited in vain for ${holds.toString()}; seen last: ${inspect(seen)}`);
    }
    await pause(AGAIN_MS);
  }
}
