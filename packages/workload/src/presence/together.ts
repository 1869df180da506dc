/**
 * Moments of CLOCK_MONOTONIC, in milliseconds, that every program of a machine repeats its presence at: who hears a
 * thousand of them wakes once for many.
 */
export const TOGETHER_MS = 5_000;
/** Periods from here on are repeated together: a shorter one would lose a tenth of itself, or more. */
const LONG_PERIOD_MS = 10 * TOGETHER_MS;

/** True for a period that is long enough to be shifted to a common moment. */
export const isRepeatedTogether = (everyMs: number): boolean => everyMs >= LONG_PERIOD_MS;

/** Milliseconds from `nowMs` until a word is due again: `everyMs`, or a little less, for the last common moment. */
export function repeatDelayMs(nowMs: number, everyMs: number): number {
  if (!isRepeatedTogether(everyMs)) return everyMs;
  // Upwards: one that fires a little too early would be all of five seconds early the next time.
  return Math.ceil(everyMs - ((nowMs + everyMs) % TOGETHER_MS));
}
