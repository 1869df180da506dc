import { type Outcome, ok } from '@idunn/kernel';
import { type Clearance, requireSlot } from '../guard/clearance.ts';
import type { Slot } from '../ladder/model.ts';
import { type Quiesced, requireQuiesced } from './app-data.ts';

/** What every change of a slot's data asks first: the guard's clearance, and that the slot stands still. */
export function entitled(clearance: Clearance, slot: Slot, token?: Quiesced): Outcome<void> {
  const covered = requireSlot(clearance, slot);
  if (!covered.ok) return covered;
  return token === undefined ? ok(undefined) : requireQuiesced(token, slot);
}
