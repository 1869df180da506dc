import { type FileHandle, open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';

export const LAST_LINES = 40;
const LINE_LIMIT_CHARACTERS = 2_000;

/** The last lines of a step's output: at most so many, each cut to a length. */
export class LastLines {
  readonly #line: (text: string) => void;
  readonly #lines: string[] = [];
  readonly #decoder = new StringDecoder('utf8');
  #partial = '';
  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  add(chunk: Buffer): void {
    const parts = (this.#partial + this.#decoder.write(chunk)).split(/\r?\n/);
    this.#partial = (parts.pop() ?? '').slice(-LINE_LIMIT_CHARACTERS);
    for (const text of parts) this.#push(text);
  }

  /** The lines so far, an unfinished one included. */
  end(): readonly string[] {
    this.#partial += this.#decoder.end();
    if (this.#partial !== '') this.#push(this.#partial);
    this.#partial = '';
    return this.#lines;
  }

  #push(text: string): void {
    const cut = text.slice(0, LINE_LIMIT_CHARACTERS);
    this.#lines.push(cut);
    if (this.#lines.length > LAST_LINES) this.#lines.shift();
    this.#line(cut);
  }
}

/** Takes both streams of a step: the file up to the limit, the last lines always. */
export class StepOutput {
  readonly #file: FileHandle;
  readonly #last: LastLines;
  readonly #limitBytes: number;
  #writing: Promise<unknown> = Promise.resolve();
  bytes = 0;

  private constructor(file: FileHandle, last: LastLines, limitBytes: number) {
    this.#file = file;
    this.#last = last;
    this.#limitBytes = limitBytes;
  }

  static async open(path: string, limitBytes: number, line: (text: string) => void): Promise<StepOutput> {
    return new StepOutput(await open(path, 'w', 0o600), new LastLines(line), limitBytes);
  }

  /** Resolves when the chunk is written; the caller reads no further before that, so memory stays bounded. */
  async add(chunk: Buffer): Promise<'within' | 'over'> {
    const room = Math.max(0, this.#limitBytes - this.bytes);
    this.bytes += chunk.length;
    this.#last.add(chunk);
    if (room > 0) {
      this.#writing = this.#writing.then(() => this.#file.writeFile(chunk.subarray(0, room)));
      await this.#writing;
    }
    return this.bytes > this.#limitBytes ? 'over' : 'within';
  }

  async close(): Promise<readonly string[]> {
    await this.#file.close();
    return this.#last.end();
  }
}
