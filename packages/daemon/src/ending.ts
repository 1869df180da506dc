import type { Timers } from '@idunn/kernel';

/** Everything is let go in milliseconds, unless a disk hangs. */
const ENDING_LIMIT_MS = 10_000;

export interface Ending {
  readonly timers: Timers;
  /** Lets everything go, in order. */
  readonly stop: () => Promise<void>;
  readonly ended: () => void;
  /** Ends this process whatever it waits for. */
  readonly force: (afterMs: number) => void;
}

/**
 * Ends the daemon once, in order, and by force where that takes too long: a disk that hangs keeps the thread that asked
 * it. The records say where everything stands, and the next daemon goes on from there (I6).
 */
export function ending({ timers, stop, ended, force }: Ending): () => void {
  let begun = false;
  return () => {
    if (begun) return;
    begun = true;
    timers.after(ENDING_LIMIT_MS, () => force(ENDING_LIMIT_MS));
    void stop().then(ended);
  };
}
