import canonicalize from 'canonicalize';

/**
 * RFC 8785 JSON. Throws `TypeError` for a value that JSON cannot carry exactly: `undefined`, functions,
 * symbols, bigint, non-finite numbers, lone surrogates, and objects with a prototype of their own
 * (a `Map` would silently become `{}`).
 */
export function canonicalJson(value: unknown): string {
  refuseWhatJsonLoses(value, '$');
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

function refuseWhatJsonLoses(value: unknown, path: string): void {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new TypeError(`${path}: a lone surrogate has no JSON form`);
      return;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${path}: ${value} has no JSON form`);
      return;
    case 'boolean':
      return;
    case 'object':
      if (value === null) return;
      if (Array.isArray(value)) {
        value.forEach((item, index) => {
          refuseWhatJsonLoses(item, `${path}[${index}]`);
        });
        return;
      }
      if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) {
        throw new TypeError(`${path}: only plain objects have a JSON form`);
      }
      for (const [key, item] of Object.entries(value)) {
        // An absent optional property is written as absent, as JSON.stringify does.
        if (item !== undefined) refuseWhatJsonLoses(item, `${path}.${key}`);
      }
      return;
    default:
      throw new TypeError(`${path}: a ${typeof value} has no JSON form`);
  }
}
