import { type Evidence, type Json, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Clearance } from '../guard/clearance.ts';
import type { Slot } from '../ladder/model.ts';
import type { DumpReport, LoadReport } from './report.ts';
import type { Watermark } from './watermark.ts';

/**
 * The word of an application that one slot of it stands still. Loading asks for it, so that the order is in the
 * signature. Made by `quiesced`; it cannot be used for another slot.
 */
export class Quiesced {
  readonly #slot: string;
  /** What the application needs to start the slot again. */
  readonly resumeToken: Json;

  constructor(slot: string, resumeToken: Json) {
    this.#slot = slot;
    this.resumeToken = resumeToken;
    Object.freeze(this);
  }

  isFor(slot: Slot): boolean {
    return this.#slot === slot.name;
  }
}

/** Says that the slot stands still. Only an application's own `quiesce` can know. */
export const quiesced = (slot: Slot, resumeToken: Json): Quiesced => new Quiesced(slot.name, resumeToken);

export function requireQuiesced(token: Quiesced, slot: Slot): Outcome<void> {
  if (token.isFor(slot)) return ok(undefined);
  return refused(refusal('slot-not-quiesced', `What was given does not say that ${slot.name} stands still.`));
}

/**
 * The seam between the ladder and an application. Everything that only the application knows is behind it: which parts
 * its data has, how it is stopped, what must not go out of a copy. What changes a slot takes the guard's clearance.
 */
export interface AppData {
  /** What this is, in a few words; it is written into every bundle. */
  describe(): string;
  /** Makes the slot stand still: nothing writes until `resume`. */
  quiesce(clearance: Clearance, slot: Slot): Promise<Outcome<Quiesced>>;
  /** Starts the slot again. It is called by name after every load, also one that failed, and never by disposal. */
  resume(clearance: Clearance, slot: Slot, token: Quiesced): Promise<Outcome<void>>;
  /** Puts a consistent copy of the slot's data into an empty directory, and declares every part of it. */
  dump(slot: Slot, staging: string): Promise<Outcome<DumpReport>>;
  /** Replaces the slot's data by what is in the directory: all of it, or none. */
  load(clearance: Clearance, slot: Slot, staging: string, token: Quiesced): Promise<Outcome<LoadReport>>;
  /** Where the slot's data stands; `unknown` when it cannot be told, `absent` when the slot was seen to hold none. */
  watermark(slot: Slot): Promise<Evidence<Watermark>>;
  /**
   * Takes out of a loaded copy what would act on the world, such as mail that waits to be sent. Answers what was
   * done, a line each; an empty list says that there is nothing of the kind.
   */
  neutraliseAfterLoad(clearance: Clearance, slot: Slot, token: Quiesced): Promise<Outcome<readonly string[]>>;
}
