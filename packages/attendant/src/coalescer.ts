import { type Machine, TOGETHER_MS } from '@idunn/workload/attending';
import { LIMITS } from './limits.ts';

/**
 * Lets what is not urgent happen together, at the next moment that the programs of this machine share: signed and
 * delivered in a burst, presences cost a fraction of what they cost one by one. A burst is no longer than whoever hears
 * it can have waiting; what is left of it follows after a pause.
 */
export class Coalescer {
  readonly #machine: Machine;
  /** For the next common moment. */
  readonly #waiting = new Set<() => void>();
  /** As soon as there is room. */
  readonly #due = new Set<() => void>();
  #isTimed = false;
  #isFlushing = false;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Calls `act` once at the next common moment; the same one again before that changes nothing. */
  add(act: () => void): void {
    this.#waiting.add(act);
    if (this.#isTimed) return;
    this.#isTimed = true;
    const delayMs = TOGETHER_MS - (this.#machine.monotonicMs() % TOGETHER_MS);
    this.#machine.after(Math.ceil(delayMs), () => this.#moment());
  }

  /** Calls `act` once, at once but for all that many ask for at the same time. */
  soon(act: () => void): void {
    this.#due.add(act);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#machine.after(0, () => this.#flush());
  }

  drop(act: () => void): void {
    this.#waiting.delete(act);
    this.#due.delete(act);
  }

  #moment(): void {
    this.#isTimed = false;
    for (const act of this.#waiting) this.#due.add(act);
    this.#waiting.clear();
    if (!this.#isFlushing) this.#flush();
  }

  #flush(): void {
    for (const act of [...this.#due].slice(0, LIMITS.burst.presences)) {
      this.#due.delete(act);
      act();
    }
    this.#isFlushing = this.#due.size > 0;
    if (this.#isFlushing) this.#machine.after(LIMITS.burst.pauseMs, () => this.#flush());
  }
}
