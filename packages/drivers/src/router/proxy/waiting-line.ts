import type { Clock, Timers } from '@idunn/kernel';
import type { Budget } from './budget.ts';

/** Why a request leaves the line. */
export type Departure = 'switched' | 'released' | 'expired';

export interface Waiting {
  readonly bytes: number;
  readonly withinMs: number;
  /** Called once, in the order of arrival for `switched` and `released`. */
  readonly depart: (departure: Departure, waitedMs: number) => void;
}

interface Place {
  readonly waiting: Waiting;
  readonly sinceMs: number;
  readonly withdrawTimer: () => void;
}

/** Requests that wait for a switch, first come first gone, within limits of time, count and bytes. */
export class WaitingLine {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #budget: Budget;
  readonly #places = new Map<Waiting, Place>();
  countLimit: number;

  constructor(clock: Clock, timers: Timers, budget: Budget, countLimit: number) {
    this.#clock = clock;
    this.#timers = timers;
    this.#budget = budget;
    this.countLimit = countLimit;
  }

  get length(): number {
    return this.#places.size;
  }

  /** `full` when the count or the bytes are at their limit; the request is then not held. */
  enter(waiting: Waiting): 'waiting' | 'full' {
    if (this.#places.size >= this.countLimit || !this.#budget.take(waiting.bytes)) return 'full';
    const withdrawTimer = this.#timers.after(waiting.withinMs, () => this.#depart(waiting, 'expired'));
    this.#places.set(waiting, { waiting, sinceMs: this.#clock.monotonicMs(), withdrawTimer });
    return 'waiting';
  }

  /** The client has gone. */
  leave(waiting: Waiting): void {
    this.#take(waiting);
  }

  /**
   * Lets everybody go who is in the line now, in order; whoever enters meanwhile waits anew. Each goes in a tick of its
   * own, so that the first is on the wire before the last has left; no input of the router comes between.
   */
  letGo(departure: 'switched' | 'released'): void {
    const leaving = Array.from(this.#places.keys()).values();
    const next = (): void => {
      const { done, value } = leaving.next();
      if (done === true) return;
      this.#depart(value, departure);
      process.nextTick(next);
    };
    next();
  }

  #depart(waiting: Waiting, departure: Departure): void {
    const place = this.#take(waiting);
    if (place !== undefined) waiting.depart(departure, this.#clock.monotonicMs() - place.sinceMs);
  }

  #take(waiting: Waiting): Place | undefined {
    const place = this.#places.get(waiting);
    if (place === undefined) return undefined;
    this.#places.delete(waiting);
    this.#budget.give(waiting.bytes);
    place.withdrawTimer();
    return place;
  }
}
