/** A JSON object, as the API server keeps it. */
export type Fields = { [name: string]: unknown };

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Items of a list that are told apart by name, as containers and variables are; every other list is one leaf. */
const isKeyed = (value: unknown): value is { name: string }[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isFields(item) && typeof item['name'] === 'string');

/** Fields that identify an object and that nobody owns. */
const IDENTITY = new Set([
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.resourceVersion',
]);

/** The leaves of an object by path, such as `spec.template.spec.containers[name=web].image`. */
export function leavesOf(value: unknown, at = ''): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (item: unknown, path: string): void => {
    if (IDENTITY.has(path)) return;
    if (isFields(item) && Object.keys(item).length > 0) {
      for (const [name, inner] of Object.entries(item)) visit(inner, path === '' ? name : `${path}.${name}`);
    } else if (isKeyed(item)) {
      for (const one of item) {
        const { name, ...rest } = one;
        if (Object.keys(rest).length === 0) leaves.set(`${path}[name=${name}]`, true);
        visit(rest, `${path}[name=${name}]`);
      }
    } else leaves.set(path, item);
  };
  visit(value, at);
  return leaves;
}

/** Merges what is applied into an object; keyed lists by name, other lists whole. */
export function merged(into: unknown, from: unknown): unknown {
  if (isFields(into) && isFields(from)) {
    const result: Fields = { ...into };
    for (const [name, value] of Object.entries(from)) result[name] = merged(into[name], value);
    return result;
  }
  if (isKeyed(into) && isKeyed(from)) {
    const kept = into.map((item) => {
      const change = from.find(({ name }) => name === item.name);
      return change === undefined ? item : (merged(item, change) as { name: string });
    });
    return [...kept, ...from.filter(({ name }) => !into.some((item) => item.name === name))];
  }
  return structuredClone(from);
}

/** RFC 7386: `null` removes. */
export function mergePatched(into: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(into) ? { ...into } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatched(result[name], value);
  }
  return result;
}
