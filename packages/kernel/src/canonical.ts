import canonicalize from 'canonicalize';

/**
 * RFC 8785 JSON. Throws `TypeError` for a value that JSON cannot carry exactly: `undefined`, functions,
 * symbols, bigint, non-finite numbers, lone surrogates, and objects with a prototype of their own
 * (a `Map` would silently become `{}`).
 */
export function canonicalJson(value: unknown): string {
  const loss = lossIn(value);
  if (loss !== null) throw new TypeError(`$${loss.at}: ${loss.why}`);
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

/** The first part that JSON cannot carry, and where it is. */
function lossIn(value: unknown): { readonly at: string; readonly why: string } | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : { at: '', why: 'a lone surrogate has no JSON form' };
    case 'number':
      return Number.isFinite(value) ? null : { at: '', why: `${value} has no JSON form` };
    case 'boolean':
      return null;
    case 'object':
      return value === null ? null : lossInParts(value);
    default:
      return { at: '', why: `a ${typeof value} has no JSON form` };
  }
}

function lossInParts(value: object): ReturnType<typeof lossIn> {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const loss = lossIn(value[index]);
      if (loss !== null) return { ...loss, at: `[${index}]${loss.at}` };
    }
    return null;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return { at: '', why: 'only plain objects have a JSON form' };
  }
  for (const key of Object.keys(value)) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    // An absent optional property is written as absent, as JSON.stringify does.
    const loss = item === undefined ? null : lossIn(item);
    if (loss !== null) return { ...loss, at: `.${key}${loss.at}` };
  }
  return null;
}
