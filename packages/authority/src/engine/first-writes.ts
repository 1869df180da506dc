import type { Marks } from '../decisions/evidence.ts';

/** First writes that are remembered; only those of the handover at hand are looked at. */
const FIRST_WRITES_LIMIT = 32;

/** The first write of each activation under an epoch, as the program signed it; the newest are kept. */
export class FirstWrites {
  readonly #kept = new Map<string, Marks['firstWrites'][string]>();
  /** As a decision is shown them: replaced, never changed. */
  shown: Marks['firstWrites'] = {};

  take(activation: string, first: Marks['firstWrites'][string]): void {
    this.#kept.delete(activation);
    this.#kept.set(activation, first);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > FIRST_WRITES_LIMIT && oldest.done !== true) this.#kept.delete(oldest.value);
    this.shown = Object.fromEntries(this.#kept);
  }
}
