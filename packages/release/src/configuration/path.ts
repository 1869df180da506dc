/** The way into a TOML value: keys and array indexes. */
export type Path = readonly (string | number)[];

/** `['step', 2, 'argv']` as `step[2].argv`. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    const key = /^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part);
    return name === '' ? key : `${name}.${key}`;
  }, '');
}
