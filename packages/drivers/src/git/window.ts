/** Lets so much work go on at once. A failure is thrown by whoever adds more or waits for the end. */
export class Window {
  readonly #limit: number;
  readonly #open = new Set<Promise<void>>();
  #failures: unknown[] = [];
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when the work has begun, which is when there is room for it. */
  async begin(work: () => Promise<void>): Promise<void> {
    if (this.#open.size >= this.#limit) await Promise.race(this.#open);
    this.#throwFailure();
    const going = work()
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => this.#open.delete(going));
    this.#open.add(going);
  }

  /** Resolves when nothing goes on any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#open);
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}
