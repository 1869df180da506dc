import type { VirtualTime } from '../virtual-time.ts';

/** How long after the last stir the world keeps its pace, and how often something is done where nothing stirs. */
const STIRRED_MS = 150;
const AT_REST_MS = 400;

/**
 * The pace of those who use the world: as asked around every moment at which something is done to it, slow where
 * nothing has been for a while. Time in which nobody acts and nothing changes costs next to nothing.
 */
export class Pace {
  readonly #time: VirtualTime;
  #stirredAtMs = 0;
  #resting = new Set<{ readonly everyMs: number; readonly deed: () => void; readonly callOff: () => void }>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Something is done to the world, or happens in it. */
  stir(): void {
    this.#stirredAtMs = this.#time.nowMs;
    if (this.#resting.size === 0) return;
    const resting = this.#resting;
    this.#resting = new Set();
    for (const { everyMs, deed, callOff } of resting) {
      callOff();
      this.#time.aside(everyMs, deed);
    }
  }

  /** Does it once, aside: after `everyMs` while the world is stirred, as soon as it is, or after a rest. */
  after(everyMs: number, deed: () => void): void {
    if (this.#time.nowMs - this.#stirredAtMs < STIRRED_MS) {
      this.#time.aside(everyMs, deed);
      return;
    }
    const callOff = this.#time.aside(AT_REST_MS, () => {
      this.#resting.delete(rest);
      deed();
    });
    const rest = { everyMs, deed, callOff };
    this.#resting.add(rest);
  }
}
