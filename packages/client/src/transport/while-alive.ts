import { pause } from './pause.ts';

/** A daemon that works answers a small question at once, however long it takes to answer another. */
const PULSE_MS = 10_000;

export interface Pulse<T> {
  /** Resolves when the daemon said anything at all, or can be seen to be gone. */
  readonly beat: (signal: AbortSignal) => Promise<unknown>;
  readonly work: (signal: AbortSignal) => Promise<T>;
  /** The answer for one that is there and says nothing for `silentMs`. */
  readonly silent: (silentMs: number) => T;
  readonly everyMs?: number;
}

/**
 * Waits for an answer for as long as the daemon lives. A process that is stopped, or hangs, keeps its socket open, and
 * the system takes connections for it: without a second question nobody could tell it from one that is at work.
 */
export async function whileAlive<T>({ beat, work, silent, everyMs = PULSE_MS }: Pulse<T>): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const silence = async (): Promise<T> => {
    for (let beats = true; beats && !signal.aborted; ) {
      await pause(everyMs, signal);
      beats = await Promise.race([beat(signal).then(() => true), pause(everyMs, signal).then(() => false)]);
    }
    return silent(2 * everyMs);
  };
  try {
    return await Promise.race([work(signal), silence()]);
  } finally {
    over.abort();
  }
}
