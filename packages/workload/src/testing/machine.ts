import type { Machine } from '../edge/machine.ts';

/** Virtual monotonic time; timers fire in order when time is moved. */
export class FakeMachine implements Machine {
  now = 1_000;
  process = 100;
  #timers: { at: number; fire: () => void }[] = [];
  #random = 0;

  monotonicMs(): number {
    return this.now;
  }

  processId(): number {
    return this.process;
  }

  randomHex(): string {
    this.#random += 1;
    return this.#random.toString(16).padStart(64, '0');
  }

  after(delayMs: number, fire: () => void): () => void {
    const timer = { at: this.now + delayMs, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Lets `spanMs` pass. */
  pass(spanMs: number): void {
    const until = this.now + spanMs;
    for (let due = this.#next(until); due !== undefined; due = this.#next(until)) {
      this.#timers = this.#timers.filter((other) => other !== due);
      this.now = Math.max(this.now, due.at);
      due.fire();
    }
    this.now = until;
  }

  #next(until: number): { at: number; fire: () => void } | undefined {
    return this.#timers.filter((timer) => timer.at <= until).sort((left, right) => left.at - right.at)[0];
  }
}
