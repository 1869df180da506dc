/** What `cat-file --batch-check` says of one object; `null` when it is missing. */
export interface BatchHeader {
  readonly id: string;
  readonly type: string;
  readonly bytes: number;
}

export function parseHeader(line: string): BatchHeader | null {
  const [id = '', type = '', bytes] = line.split(' ');
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(id) && bytes !== undefined ? { id, type, bytes: Number(bytes) } : null;
}

/** Reads lines and exact runs of bytes from a stream of chunks, holding no more than one chunk. */
export class BatchReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    const line = await this.lineOrEnd();
    if (line === null) throw new EndedEarly();
    return line;
  }

  /** `null` when the answers are over. */
  async lineOrEnd(): Promise<string | null> {
    for (;;) {
      const end = this.#rest.indexOf(0x0a);
      if (end !== -1) {
        const line = this.#rest.subarray(0, end).toString('utf8');
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      const { done, value } = await this.#chunks.next();
      if (done === true && this.#rest.length === 0) return null;
      if (done === true) throw new EndedEarly();
      this.#rest = Buffer.concat([this.#rest, value]);
    }
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    let left = count;
    while (left > 0) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** Small answers only: the whole run in memory. */
  async whole(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.bytes(count)) parts.push(part);
    return Buffer.concat(parts);
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const taken = Math.min(left, this.#rest.length);
      this.#rest = this.#rest.subarray(taken);
      left -= taken;
    }
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new EndedEarly();
    return value;
  }
}

/** Git's output ended in the middle of an answer. */
export class EndedEarly extends Error {
  constructor() {
    super('git ended in the middle of an answer');
    this.name = 'EndedEarly';
  }
}
