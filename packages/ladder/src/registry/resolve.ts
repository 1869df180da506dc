import { isOf } from '../ladder/generation-name.ts';
import { basesOf, identitiesOf } from '../ladder/identity.ts';
import type { Slot } from '../ladder/model.ts';
import { readingsOf, type TargetRef } from './reference.ts';

/** The slot that a reference means. Unknown is an answer of its own: nothing is concluded from it. */
export type Resolution = { readonly kind: 'slot'; readonly slot: Slot } | { readonly kind: 'unknown' };

/**
 * Finds the slot over every identity that slots have, their generations included, whatever kind of reference it is.
 * Doubt falls to the guarded side: a guarded slot is met by any reading of the text and before every unguarded one.
 */
export function resolve(slots: readonly Slot[], ref: TargetRef): Resolution {
  const { own, any } = readingsOf(ref);
  const guarded = slots.find((slot) => slot.guarded && any.some((text) => means(slot, text)));
  const slot = guarded ?? slots.find((one) => own !== null && means(one, own));
  return slot === undefined ? { kind: 'unknown' } : { kind: 'slot', slot };
}

const means = (slot: Slot, text: string): boolean =>
  identitiesOf(slot).some((identity) => identity.text === text) || basesOf(slot).some((base) => isOf(base, text));
