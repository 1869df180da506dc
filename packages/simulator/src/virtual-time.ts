import type { Clock, Timers } from '@idunn/kernel';

interface Due {
  readonly atMs: number;
  readonly order: number;
  /** `null` once it was called off. */
  fire: (() => void) | null;
  /** No promise goes on because of it, unless it says so. */
  readonly aside: boolean;
}

const before = (a: Due, b: Due): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** What is due, earliest first (a binary heap); at one instant in the order in which it was asked for. */
class Agenda {
  readonly #heap: Due[] = [];

  /** The next that was not called off. */
  get next(): Due | undefined {
    while (this.#heap[0]?.fire === null) this.shift();
    return this.#heap[0];
  }

  push(due: Due): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(due);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !before(due, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = due;
  }

  shift(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const [child, below] = right !== undefined && before(right, left) ? [right, 2 * at + 2] : [left, 2 * at + 1];
      if (!before(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
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
  #standsSinceMs: number | null = null;
  #stoodMs = 0;
  #suspendedMs = 0;
  #order = 0;
  #boot = 1;
  #runs = 0;
  #stirred = false;
  readonly #due = new Agenda();
  events = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  readonly clock: Clock = this.#clock();

  #clock(): Clock {
    const boot = (): string => this.bootId;
    return {
      wallMs: () => this.#wallOffsetMs + this.#nowMs,
      monotonicMs: () => this.monotonicMs,
      get bootId() {
        return boot();
      },
    };
  }

  /** What a monotonic clock reads; it may have stood still while time passed. */
  get monotonicMs(): number {
    return (this.#standsSinceMs ?? this.#nowMs) - this.#stoodMs;
  }

  /** The monotonic clock stands still for a while: what measures by it waits for longer. */
  standStill(forMs: number): void {
    if (this.#standsSinceMs !== null) return;
    this.#standsSinceMs = this.#nowMs;
    this.after(forMs, () => {
      this.#stoodMs += this.#nowMs - (this.#standsSinceMs ?? this.#nowMs);
      this.#standsSinceMs = null;
    });
  }

  /** The machine was suspended, and its clocks ran on: whatever was due meanwhile comes late, and at once. */
  suspend(forMs: number): void {
    this.#nowMs += forMs;
    this.#suspendedMs += forMs;
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
    return this.#add(delayMs, fire, false);
  }

  /** As `after`, for a deed after which no promise goes on but where it calls `stir`: none has to be waited for. */
  aside(delayMs: number, fire: () => void): () => void {
    return this.#add(delayMs, fire, true);
  }

  /** Somebody was told of the deed at hand: what goes on because of it does before the next one. */
  stir(): void {
    this.#stirred = true;
  }

  #add(delayMs: number, fire: () => void, aside: boolean): () => void {
    this.#order += 1;
    const due: Due = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, fire, aside };
    this.#due.push(due);
    return () => {
      due.fire = null;
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Runs until `done` says so or `untilMs` has come, suspended time apart; answers whether it was `done`. */
  async run(done: () => boolean, untilMs: number): Promise<boolean> {
    const suspendedMs = this.#suspendedMs;
    this.#runs += 1;
    try {
      // Whoever calls may be none of the promises: they come before the first tick.
      await Promise.resolve();
      for (;;) {
        await this.#settled();
        if (done()) return true;
        if (!this.#untilStirred(untilMs + this.#suspendedMs - suspendedMs)) return false;
      }
    } finally {
      this.#runs -= 1;
    }
  }

  /** One event after the other until a promise may go on; answers whether the run is to go on. */
  #untilStirred(untilMs: number): boolean {
    this.#stirred = false;
    while (!this.#stirred) {
      const next = this.#due.next;
      if (next === undefined || next.atMs > untilMs) {
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return false;
      }
      this.#due.shift();
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.events += 1;
      if (this.events > EVENTS_LIMIT) return false;
      this.#stirred = !next.aside;
      next.fire?.();
    }
    return true;
  }

  /**
   * Every microtask has run. Ticks come after the last of them, but all at once: where several wait for time to pass,
   * each takes a turn of the event loop.
   */
  #settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#runs === 1) process.nextTick(resolve);
      else setImmediate(resolve);
    });
  }
}
