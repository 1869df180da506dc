import type { Machine } from './edge/machine.ts';
import { IdunnError, messageOf } from './errors.ts';
import { within } from './handlers.ts';

export type StopHandler = () => void | Promise<void>;

/** How long the handlers may take together, unless the program says otherwise. */
export const STOP_LIMIT_MS = 10_000;

/**
 * Ends the program: the handlers run side by side, and the end comes as soon as they are done (F25), or at the limit.
 * `end` is told the exit code: 0, or 1 with a reason when a handler failed or did not end in time.
 */
export async function runStop(
  handlers: readonly StopHandler[],
  limitMs: number,
  machine: Machine,
  end: (code: 0 | 1, why: string | null) => void,
): Promise<void> {
  const why = await runHandlers();
  end(why === null ? 0 : 1, why);

  async function runHandlers(): Promise<string | null> {
    try {
      const ended = await within(Promise.all(handlers.map(async (handler) => handler())), limitMs, machine);
      const reason = `The onStop handlers had not ended after ${limitMs} ms`;
      return ended ? null : new IdunnError('workload-stop-limit-passed', reason).message;
    } catch (error) {
      return `onStop: ${messageOf(error)}`;
    }
  }
}
