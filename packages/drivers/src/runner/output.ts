import { type FileHandle, open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';

/** So many last lines are kept of each stream. */
export const LAST_LINES = 30;
const LINE_LIMIT_CHARACTERS = 2_000;

type Stream = 'stdout' | 'stderr';

/**
 * The last lines of a step's output, in the order in which they came. Each stream has a share of its own, so that a
 * talkative one never drives out what the other said last.
 */
export class LastLines {
  readonly #line: (text: string) => void;
  readonly #streams = { stdout: new Lines(), stderr: new Lines() };
  #count = 0;
  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  add(stream: Stream, chunk: Buffer): void {
    for (const text of this.#streams[stream].split(chunk)) this.#push(stream, text);
  }

  /** The lines so far, unfinished ones included. */
  end(): readonly string[] {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#streams[stream].rest();
      if (rest !== '') this.#push(stream, rest);
    }
    const all = [...this.#streams.stdout.last, ...this.#streams.stderr.last];
    return all.toSorted((left, right) => left.order - right.order).map(({ text }) => text);
  }

  #push(stream: Stream, text: string): void {
    const cut = text.slice(0, LINE_LIMIT_CHARACTERS);
    const { last } = this.#streams[stream];
    last.push({ order: this.#count++, text: cut });
    if (last.length > LAST_LINES) last.shift();
    this.#line(cut);
  }
}

/** Splits one stream into lines, however its bytes arrive. */
class Lines {
  readonly last: { readonly order: number; readonly text: string }[] = [];
  readonly #decoder = new StringDecoder('utf8');
  #partial = '';

  split(chunk: Buffer): readonly string[] {
    const parts = (this.#partial + this.#decoder.write(chunk)).split(/\r?\n/);
    this.#partial = (parts.pop() ?? '').slice(-LINE_LIMIT_CHARACTERS);
    return parts;
  }

  rest(): string {
    const rest = this.#partial + this.#decoder.end();
    this.#partial = '';
    return rest;
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
  async add(stream: Stream, chunk: Buffer): Promise<'within' | 'over'> {
    const room = Math.max(0, this.#limitBytes - this.bytes);
    this.bytes += chunk.length;
    this.#last.add(stream, chunk);
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
