import type { JsonObject } from './json.ts';

/** A value from outside does not have the shape that the protocol names. The message says where. */
export class ShapeError extends Error {
  constructor(path: string, wanted: string) {
    super(`${path} is not ${wanted}`);
    this.name = 'ShapeError';
  }
}

/** Reads typed fields of a value from outside, one by one; unknown fields are left to later versions. */
export class Shape {
  readonly #value: JsonObject;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ShapeError(path, 'an object');
    this.#value = value as JsonObject;
    this.#path = path;
  }

  raw(name: string): unknown {
    return this.#value[name];
  }

  text(name: string): string {
    const value = this.#value[name];
    if (typeof value !== 'string') throw new ShapeError(`${this.#path}.${name}`, 'text');
    return value;
  }

  /** A whole number from `least` up. */
  integer(name: string, least = 0): number {
    const value = this.#value[name];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
      throw new ShapeError(`${this.#path}.${name}`, `a whole number of at least ${least}`);
    }
    return value;
  }

  object(name: string): Shape {
    return new Shape(this.#value[name], `${this.#path}.${name}`);
  }

  list<T>(name: string, read: (item: unknown, path: string) => T): readonly T[] {
    const value = this.#value[name];
    if (!Array.isArray(value)) throw new ShapeError(`${this.#path}.${name}`, 'a list');
    return value.map((item, index) => read(item, `${this.#path}.${name}[${index}]`));
  }

  /** `null` when the field is `null` (or absent), else what `read` makes of it. */
  nullable<T>(name: string, read: (shape: this) => T): T | null {
    return (this.#value[name] ?? null) === null ? null : read(this);
  }
}

export function textItem(item: unknown, path: string): string {
  if (typeof item !== 'string') throw new ShapeError(path, 'text');
  return item;
}
