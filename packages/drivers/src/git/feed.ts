/** Lines for a program's input that are still being found while the program answers the first of them. */
export class Feed implements AsyncIterable<string> {
  #lines: string[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  add(line: string): void {
    this.#lines.push(`${line}\n`);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const lines = this.#lines.splice(0).join('');
      if (lines !== '') yield lines;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
