import { IdunnError } from '../errors.ts';

/** Shorter values are words of every text; blotting them out would only point at them. */
const REDACTABLE_CHARACTERS = 6;

/** The secrets of a launch: read when asked for, and never let into a log or a presence again (F30). */
export class Secrets {
  readonly #names: ReadonlySet<string>;
  readonly #read: (name: string) => string;
  readonly #values = new Map<string, string>();

  constructor(names: readonly string[], read: (name: string) => string) {
    this.#names = new Set(names);
    this.#read = read;
  }

  /** The exact content of the secret's file. Throws `IdunnError` for a name that the binding does not give. */
  value(name: string): string {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    if (!this.#names.has(name)) throw new IdunnError('workload-secret-unknown', `There is no secret named ${name}`);
    const value = this.#read(name);
    this.#values.set(name, value);
    return value;
  }

  /** `text` with every value that this program has read replaced by its name. */
  redact(text: string): string {
    const longestFirst = [...this.#values].sort(([, left], [, right]) => right.length - left.length);
    let clean = text;
    for (const [name, value] of longestFirst) {
      const bare = value.trim();
      if (bare.length >= REDACTABLE_CHARACTERS) clean = clean.replaceAll(bare, `[secret ${name}]`);
    }
    return clean;
  }
}
