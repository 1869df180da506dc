import { type Machine, TOGETHER_MS } from '@idunn/workload/attending';

/**
 * Lets what is not urgent happen together, at the next moment that the programs of this machine share: signed and
 * delivered in a burst, presences cost a fraction of what they cost one by one.
 */
export class Coalescer {
  readonly #machine: Machine;
  readonly #waiting = new Set<() => void>();
  #isTimed = false;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Calls `act` once at the next common moment; the same one again before that changes nothing. */
  add(act: () => void): void {
    this.#waiting.add(act);
    if (this.#isTimed) return;
    this.#isTimed = true;
    const delayMs = TOGETHER_MS - (this.#machine.monotonicMs() % TOGETHER_MS);
    this.#machine.after(Math.ceil(delayMs), () => this.#flush());
  }

  drop(act: () => void): void {
    this.#waiting.delete(act);
  }

  #flush(): void {
    this.#isTimed = false;
    const due = [...this.#waiting];
    this.#waiting.clear();
    for (const act of due) act();
  }
}
