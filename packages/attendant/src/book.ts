import { type Outcome, ok, readPlainFile, refusal, refused, replaceFile } from '@idunn/kernel';
import { messageOf } from '@idunn/workload/attending';
import { type AttendedRecord, bookSchema } from './model/record.ts';

/** Largest file that is read: 10,000 programs with room to spare. */
const BOOK_LIMIT_BYTES = 67_108_864;

interface Head {
  readonly fleet: string;
  readonly bootId: string;
}

/** What is attended, in one file that is replaced whole: an attendant that died is followed by one that goes on. */
export class Book {
  readonly #path: string;
  readonly #head: Head;
  readonly #render: () => readonly AttendedRecord[];
  #writing: Promise<Outcome<'kept'>> | null = null;
  #due: Promise<Outcome<'kept'>> | null = null;

  constructor(path: string, head: Head, render: () => readonly AttendedRecord[]) {
    this.#path = path;
    this.#head = head;
    this.#render = render;
  }

  /**
   * What an earlier attendant of this boot left. A file that cannot be read is no empty one (F9): refused as
   * `attendant-file-unreadable`.
   */
  async read(): Promise<Outcome<readonly AttendedRecord[]>> {
    try {
      const bytes = await readPlainFile(this.#path, { limitBytes: BOOK_LIMIT_BYTES });
      if (bytes === null) return ok([]);
      const book = bookSchema.parse(JSON.parse(bytes.toString('utf8')));
      if (book.fleet !== this.#head.fleet) return this.#unreadable(`it belongs to fleet ${book.fleet}`);
      return ok(book.bootId === this.#head.bootId ? book.attended : []);
    } catch (error) {
      return this.#unreadable(messageOf(error));
    }
  }

  /** Resolves when everything that is attended now is kept; writes that are asked for meanwhile are one. */
  keep(): Promise<Outcome<'kept'>> {
    if (this.#writing === null) {
      this.#writing = this.#write().finally(() => {
        this.#writing = null;
      });
      return this.#writing;
    }
    this.#due ??= this.#writing.then(() => {
      this.#due = null;
      return this.keep();
    });
    return this.#due;
  }

  async #write(): Promise<Outcome<'kept'>> {
    const book = { schema: 'idunn.attended/v1', ...this.#head, attended: this.#render() };
    // Activations end with the boot: what would survive it is worth nothing.
    const written = await replaceFile(this.#path, `${JSON.stringify(book)}\n`, 'process');
    if (written.kind !== 'failed') return ok('kept');
    return refused(refusal('attendant-file-not-written', `${this.#path} cannot be written: ${written.because}.`));
  }

  #unreadable(because: string): Outcome<never> {
    return refused(refusal('attendant-file-unreadable', `${this.#path} cannot be read: ${because}.`));
  }
}
