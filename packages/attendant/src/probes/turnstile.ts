/** Lets so many through at once; the others wait in line, each of them once. */
export class Turnstile {
  readonly #most: number;
  readonly #line: (() => void)[] = [];
  #inside = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get inside(): number {
    return this.#inside;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#most) await new Promise<void>((resolve) => this.#line.push(resolve));
    else this.#inside += 1;
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      // Whoever is next takes the place over, so that nobody slips in between.
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
