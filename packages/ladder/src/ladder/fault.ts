import { type Code, type Outcome, refusal, refused } from '@idunn/kernel';
import type { Place } from './model.ts';

/** One mistake in a ladder file. A refusal carries all of them at once in its detail, as `{ faults }`. */
export interface Fault extends Place {
  readonly code: Code;
  /** The field, as a path: `slots[2].guarded`; empty for the file as a whole. */
  readonly field: string;
  /** What is wrong, in one sentence without a full stop. */
  readonly message: string;
  /** The line that the fault disagrees with. */
  readonly related?: Place;
}

/** At most so many faults are carried; the reason says how many there were. */
export const FAULT_LIMIT = 200;

/** One refusal for all faults: their own code when they share it, else `configuration-invalid`. */
export function refusedFaults(faults: readonly Fault[]): Outcome<never> {
  const [first] = faults;
  if (first === undefined) throw new TypeError('a refusal needs at least one fault');
  const code = faults.every((fault) => fault.code === first.code) ? first.code : 'configuration-invalid';
  const where = `${first.file}:${first.line}:${first.column}: ${first.message}`;
  const reason = faults.length === 1 ? `${where}.` : `${faults.length} faults, the first at ${where}.`;
  const detail = { faults: faults.slice(0, FAULT_LIMIT).map(faultJson) };
  return refused(refusal(code, reason, { remedy: REMEDIES[code] ?? REMEDY, detail }));
}

const REMEDY = 'Correct each listed line of the ladder file; idunn ladder check reads it again.';

/** The catalogue's remedies for these speak of other files. */
const REMEDIES: Readonly<Partial<Record<Code, string>>> = {
  'unknown-field': 'Remove the field or correct its spelling; docs/ladder.md lists every field of a ladder file.',
  'production-unguarded': 'Say guarded: true, or give the slot the role that it really has.',
  'ladder-version-unknown': 'Say apiVersion: idunn.ladder/v1, or read the file with the version of Idunn it is for.',
};

/** Plain JSON: an absent `related` is left out. */
function faultJson({ related, ...fault }: Fault) {
  return { ...fault, ...(related === undefined ? {} : { related: { ...related } }) };
}
