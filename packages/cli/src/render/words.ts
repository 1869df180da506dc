/** A duration for people: `4.6 ms`, `312 ms`, `1.42 s`, `3 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size for people: `812 bytes`, `3.4 MiB`. */
export function bytes(count: number): string {
  const power = count < 1_024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(count) / 10));
  const value = count / 1_024 ** power;
  return `${power === 0 || Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[power] ?? ''}`;
}

/** How long ago, coarsely: `3 s ago`, `5 min ago`, `2 h ago`, `4 d ago`. A future instant is `just now`. */
export function ago(instant: string, nowMs: number): string {
  const seconds = Math.floor((nowMs - Date.parse(instant)) / 1_000);
  if (seconds < 1) return 'just now';
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** The time of day of an instant, in UTC. */
export const timeOf = (instant: string): string => `${instant.slice(11, 19)} UTC`;

/** The first digits of a digest, an incarnation key, an activation id or a commit; enough to tell them apart by eye. */
export function short(id: string): string {
  const hexadecimal = /(?:sha256:|act-|tx-)?([0-9a-f]{12})[0-9a-f]{12,}$/.exec(id);
  return hexadecimal?.[1] ?? id;
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The known word that was probably meant; `null` when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.candidate ?? null;
}

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
