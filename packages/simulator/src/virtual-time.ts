import type { Clock, Timers } from '@idunn/kernel';

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
}

/** Events that one run may process; a run that needs more is stuck in a loop. */
const EVENTS_LIMIT = 300_000;

/**
 * Virtual time: nothing passes but what the next due event needs. Between two events every promise that can go on goes
 * on, so the order is the seed's alone.
 */
export class VirtualTime {
  #nowMs = 1_000;
  #wallOffsetMs = 1_800_000_000_000;
  #order = 0;
  #boot = 1;
  #due: Due[] = [];
  events = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  readonly clock: Clock = this.#clock();

  #clock(): Clock {
    const boot = (): string => this.bootId;
    return {
      wallMs: () => this.#wallOffsetMs + this.#nowMs,
      monotonicMs: () => this.#nowMs,
      get bootId() {
        return boot();
      },
    };
  }

  get bootId(): string {
    return `boot-${this.#boot}`;
  }

  /** The wall clock jumps; nothing may care (F29). */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  reboot(): void {
    this.#boot += 1;
  }

  readonly timers: Timers = { after: (delayMs, fire) => this.after(delayMs, fire) };

  after(delayMs: number, fire: () => void): () => void {
    this.#order += 1;
    const due: Due = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, fire };
    const at = this.#due.findLastIndex((other) => other.atMs <= due.atMs);
    this.#due.splice(at + 1, 0, due);
    return () => {
      this.#due = this.#due.filter((other) => other !== due);
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Runs until `done` says so or virtual `untilMs` has come; answers whether it was `done`. */
  async run(done: () => boolean, untilMs: number): Promise<boolean> {
    await settled();
    while (!done()) {
      const next = this.#due[0];
      if (next === undefined || next.atMs > untilMs) {
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return false;
      }
      this.#due.shift();
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.events += 1;
      if (this.events > EVENTS_LIMIT) return false;
      next.fire();
      await settled();
    }
    return true;
  }
}

/** Every microtask has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
