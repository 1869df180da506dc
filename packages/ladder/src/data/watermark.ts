import type { Evidence } from '@idunn/kernel';
import { z } from 'zod';

/**
 * Where data stands, on two clocks. The mark moves with every write and never with a deletion; the magnitudes go down
 * with deletions. Either is `null` when the application cannot tell.
 */
export interface Watermark {
  /** A whole number, or a UTC instant such as `2026-11-30T01:11:00.5Z`. */
  readonly mark: string | null;
  /** Rows by table, or whatever else can be counted cheaply. */
  readonly magnitude: Readonly<Record<string, number>> | null;
}

export const watermarkSchema = z.strictObject({
  mark: z.string().max(1_000).nullable(),
  magnitude: z.record(z.string(), z.int()).nullable(),
});

/** What loading a bundle over a slot's data would lose. */
export type Discard =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'newer-writes'; readonly bundle: string; readonly target: string }
  /** Deletions that were made since: the rows would be there again. */
  | { readonly kind: 'removed-rows'; readonly buckets: readonly string[] }
  | { readonly kind: 'unknown'; readonly because: string };

/** Everything but a proven nothing is for a person to confirm. */
export const requiresConfirmation = (discard: Discard): boolean => discard.kind !== 'nothing';

/**
 * What would be lost. A slot that was seen to hold no data loses nothing; whatever cannot be compared is unknown
 * (I10).
 */
export function wouldDiscard(bundle: Watermark | null, target: Evidence<Watermark>): Discard {
  if (target.kind === 'absent') return { kind: 'nothing' };
  if (target.kind === 'unknown') return unknown(target.because);
  if (bundle === null) return unknown('the bundle has no watermark');
  const byMark = discardByMark(bundle.mark, target.value.mark);
  const byMagnitude = discardByMagnitude(bundle.magnitude, target.value.magnitude);
  // What is certain is said before what is unknown, and both before nothing.
  for (const kind of ['newer-writes', 'removed-rows', 'unknown'] as const) {
    const found = [byMark, byMagnitude].find((one) => one.kind === kind);
    if (found !== undefined) return found;
  }
  return { kind: 'nothing' };
}

const unknown = (because: string): Discard => ({ kind: 'unknown', because });

function discardByMark(bundle: string | null, target: string | null): Discard {
  if (bundle === null || target === null) return unknown(`the ${bundle === null ? 'bundle' : 'slot'} has no mark`);
  if (bundle === target) return { kind: 'nothing' };
  const order = compareMarks(bundle, target);
  if (order === null) return unknown(`the marks ${bundle} and ${target} cannot be compared`);
  return order < 0 ? { kind: 'newer-writes', bundle, target } : { kind: 'nothing' };
}

function discardByMagnitude(bundle: Watermark['magnitude'], target: Watermark['magnitude']): Discard {
  if (bundle === null || target === null) return unknown(`the ${bundle === null ? 'bundle' : 'slot'} has no counts`);
  const buckets = [...new Set([...Object.keys(bundle), ...Object.keys(target)])];
  if (buckets.length === 0) return unknown('nothing was counted');
  const less = buckets.filter((bucket) => (target[bucket] ?? 0) < (bundle[bucket] ?? 0) && bucket in target);
  const more = buckets.find((bucket) => (target[bucket] ?? 0) > (bundle[bucket] ?? 0) && bucket in bundle);
  if (more !== undefined) {
    return { kind: 'newer-writes', bundle: `${bundle[more]} ${more}`, target: `${target[more]} ${more}` };
  }
  if (less.length > 0) return { kind: 'removed-rows', buckets: less };
  const alone = buckets.find((bucket) => !(bucket in bundle && bucket in target));
  return alone === undefined ? { kind: 'nothing' } : unknown(`${alone} was counted on one side only`);
}

const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?Z$/;

/** Negative when `a` is earlier; `null` when the two are not of one kind. */
function compareMarks(a: string, b: string): number | null {
  if (/^\d+$/.test(a) && /^\d+$/.test(b))
    return Number(BigInt(a) - BigInt(b) > 0n) - Number(BigInt(a) - BigInt(b) < 0n);
  const [one, other] = [INSTANT.exec(a), INSTANT.exec(b)];
  if (one === null || other === null) return null;
  const digits = Math.max(one[2]?.length ?? 0, other[2]?.length ?? 0);
  const [x, y] = [one, other].map((match) => `${match[1]}.${(match[2] ?? '').padEnd(digits, '0')}`) as [string, string];
  return x < y ? -1 : Number(x > y);
}
