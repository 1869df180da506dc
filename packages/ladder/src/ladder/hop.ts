import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { depths, type Edges, shortestPath } from './graph.ts';
import type { Ladder } from './model.ts';

/** Whether one move between two slots is one that the ladder allows. */
export type Hop =
  | { readonly kind: 'legal' }
  /** The way leads there over other rungs. The only hop that may be made all the same. */
  | { readonly kind: 'skips-rungs'; readonly skipped: readonly string[] }
  | { readonly kind: 'wrong-direction' }
  /** No way leads from one to the other, in either direction. */
  | { readonly kind: 'not-on-ladder' }
  | { readonly kind: 'same-slot' }
  | { readonly kind: 'unknown-slot'; readonly slot: string };

/** Code moves up: along the edges, one at a time. */
export const checkPromotion = (ladder: Ladder, from: string, to: string): Hop => hop(edgesOf(ladder), from, to);

/** Data moves down: against the edges, one at a time. */
export function checkDataFlow(ladder: Ladder, from: string, to: string): Hop {
  const upward = hop(edgesOf(ladder), to, from);
  switch (upward.kind) {
    case 'skips-rungs':
      return { kind: 'skips-rungs', skipped: upward.skipped.toReversed() };
    case 'unknown-slot': // When neither is known, the one that data comes from is named, as for code.
      return edgesOf(ladder).has(from) ? upward : { kind: 'unknown-slot', slot: from };
    default:
      return upward;
  }
}

/** How far each slot is from the first rung: the longest way that leads to it. Computed, never declared. */
export const rank = (ladder: Ladder): ReadonlyMap<string, number> => depths(edgesOf(ladder));

/**
 * What the hop allows. A skip passes only with `allowSkip`, and the rungs that it leaves out come back to be reported.
 * Nothing else can be overridden.
 */
export function requireHop(
  hop: Hop,
  move: { readonly what: 'code' | 'data'; readonly from: string; readonly to: string; readonly allowSkip?: boolean },
): Outcome<{ readonly skipped: readonly string[] }> {
  const way = `${move.what === 'code' ? 'Code' : 'Data'} cannot move from ${move.from} to ${move.to}`;
  switch (hop.kind) {
    case 'legal':
      return ok({ skipped: [] });
    case 'skips-rungs':
      if (move.allowSkip === true) return ok({ skipped: hop.skipped });
      return refused(refusal('hop-skips-rungs', `${way} past ${hop.skipped.join(', ')}.`));
    case 'wrong-direction':
      return refused(
        refusal(
          'hop-wrong-direction',
          `${way}: ${move.what} moves ${move.what === 'code' ? 'up' : 'down'} the ladder.`,
        ),
      );
    case 'not-on-ladder':
      return refused(refusal('hop-not-on-ladder', `${way}: no way of the ladder joins them.`));
    case 'same-slot':
      return refused(refusal('hop-same-slot', `${way}: they are the same slot.`));
    case 'unknown-slot':
      return refused(refusal('slot-unknown', `${way}: the ladder has no slot ${hop.slot}.`));
  }
}

const edgesOf = (ladder: Ladder): Edges => new Map(ladder.slots.map((slot) => [slot.name, slot.promotes_to]));

function hop(edges: Edges, from: string, to: string): Hop {
  for (const slot of [from, to]) if (!edges.has(slot)) return { kind: 'unknown-slot', slot };
  if (from === to) return { kind: 'same-slot' };
  const path = shortestPath(edges, from, to);
  if (path !== null) return path.length === 2 ? { kind: 'legal' } : { kind: 'skips-rungs', skipped: path.slice(1, -1) };
  return { kind: shortestPath(edges, to, from) === null ? 'not-on-ladder' : 'wrong-direction' };
}
