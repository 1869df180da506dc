import type { Clock, Timers } from '../clock.ts';

/** A monotonic clock that only `pass` moves, with its timers. */
export class FakeTime implements Timers {
  readonly clock: Clock;
  #nowMs = 1_000;
  #timers: { readonly atMs: number; readonly fire: () => void }[] = [];

  constructor(bootId = 'boot-1') {
    this.clock = { bootId, wallMs: () => this.#nowMs, monotonicMs: () => this.#nowMs };
  }

  /** Timers that nobody withdrew, and that are not due yet. */
  get pending(): number {
    return this.#timers.length;
  }

  after(delayMs: number, fire: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  pass(spanMs: number): void {
    const untilMs = this.#nowMs + spanMs;
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.#nowMs = next.atMs;
      next.fire();
    }
    this.#nowMs = untilMs;
  }
}
