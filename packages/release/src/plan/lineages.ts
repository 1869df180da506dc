import type { Evidence } from '@idunn/kernel';
import type { Lineage } from './host-facts.ts';

/**
 * How the first lies to the second, in words; `null` when they are apart. What cannot be looked at counts as
 * overlapping (I10).
 */
export function overlap(own: Lineage, other: Evidence<Lineage> | undefined): string | null {
  if (other?.kind !== 'seen') return 'cannot be told from';
  const [mine = ''] = own;
  const [theirs = ''] = other.value;
  if (mine === theirs) return 'is the same directory as';
  if (own.includes(theirs)) return 'is inside';
  return other.value.includes(mine) ? 'holds' : null;
}

/** What keeps a thing of the machine from being used, in words. */
export function problem(evidence: Evidence<unknown> | undefined, seen: string): string {
  if (evidence === undefined) return 'was not looked at';
  switch (evidence.kind) {
    case 'seen':
      return seen;
    case 'absent':
      return 'does not exist';
    case 'unknown':
      return `could not be read: ${evidence.because}`;
  }
}
