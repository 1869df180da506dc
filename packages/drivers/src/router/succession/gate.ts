/** Lets changes pass while it is open; closing it waits for those that are under way and keeps later ones waiting. */
export class Gate {
  #inside = 0;
  #closed: PromiseWithResolvers<void> | null = null;
  #emptied: (() => void) | null = null;

  async pass<T>(change: () => T | Promise<T>): Promise<T> {
    while (this.#closed !== null) await this.#closed.promise;
    this.#inside++;
    try {
      return await change();
    } finally {
      this.#inside--;
      if (this.#inside === 0) this.#emptied?.();
    }
  }

  /** Resolves once nothing is under way any more. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    if (this.#inside === 0) return;
    await new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    this.#emptied = null;
  }

  open(): void {
    this.#closed?.resolve();
    this.#closed = null;
  }
}
