import { setTimeout as after } from 'node:timers/promises';

/** Resolves after `ms`, or at once when `signal` aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  after(ms, undefined, { signal, ref: true }).catch(() => undefined);
