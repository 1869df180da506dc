const STAMP = /^-(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})$/;

/** `<base>-YYYYMMDD-HHMM`, in UTC. Throws `RangeError` for a time that four digits of a year cannot carry. */
export function generationName(base: string, atMs: number): string {
  const name = `${base}-${new Date(atMs).toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')}`;
  if (!isOf(base, name)) throw new RangeError(`${atMs} is no time that a generation can be named after`);
  return name;
}

/** The UTC minute that a generation of `base` is named after; `null` when the namespace is none, or no real time. */
export function generationTimeMs(base: string, namespace: string): number | null {
  if (!namespace.startsWith(base)) return null;
  const [, year, month, day, hour, minute] = STAMP.exec(namespace.slice(base.length)) ?? [];
  if (minute === undefined) return null;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
  const atMs = Date.parse(iso);
  // A day that the month does not have is read as one of the next month by some engines.
  return Number.isNaN(atMs) || new Date(atMs).toISOString() !== iso ? null : atMs;
}

/** Whether a namespace is a generation of `base`, which is a slot's name or its namespace. */
export const isOf = (base: string, namespace: string): boolean => generationTimeMs(base, namespace) !== null;
