import type { Machine } from './edge/machine.ts';
import type { Program } from './edge/program.ts';
import { IdunnError, messageOf } from './errors.ts';
import { within } from './handlers.ts';

export type StopHandler = () => void | Promise<void>;

/** How long the handlers may take together, unless the program says otherwise. */
export const STOP_LIMIT_MS = 10_000;

/**
 * Ends the program: the handlers run side by side, and the end comes as soon as they are done (F25), or at the limit.
 * Exit code 0, or 1 when a handler failed or did not end in time.
 */
export async function runStop(
  handlers: readonly StopHandler[],
  limitMs: number,
  close: () => void,
  machine: Machine,
  program: Program,
): Promise<void> {
  let code = 0;
  try {
    const ended = await within(Promise.all(handlers.map(async (handler) => handler())), limitMs, machine);
    if (!ended) {
      throw new IdunnError('workload-stop-limit-passed', `The onStop handlers had not ended after ${limitMs} ms`);
    }
  } catch (error) {
    program.log(messageOf(error));
    code = 1;
  }
  close();
  program.exit(code);
}
