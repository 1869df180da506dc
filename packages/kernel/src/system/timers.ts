import type { Timers } from '../clock.ts';

/** The longest delay that Node's timers carry; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2_147_483_647;

/** The event loop's timers; a delay of any length is kept. */
export const systemTimers: Timers = {
  after(delayMs, fire) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, LONGEST_DELAY_MS);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : fire()), stepMs);
    };
    wait(Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};
