/** Any value that RFC 8259 JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/**
 * RFC 8785 JSON: keys in UTF-16 order, no spaces, numbers as ECMAScript writes them. Throws `TypeError` for what JSON
 * cannot carry exactly. An `undefined` property counts as absent.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new TypeError('a lone surrogate has no JSON form');
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
      return JSON.stringify(value);
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new TypeError(`a ${typeof value} has no JSON form`);
  }
}

const canonicalArray = (items: readonly unknown[]): string => `[${items.map(canonicalJson).join(',')}]`;

function canonicalObject(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('only plain objects have a JSON form');
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, item]) => `${canonicalJson(key)}:${canonicalJson(item)}`);
  return `{${members.join(',')}}`;
}
