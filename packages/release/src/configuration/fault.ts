import { type Code, type Outcome, type Refusal, refusal, refused } from '@idunn/kernel';

/** A place in a configuration file, with the line as it is written there. Line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The source line's text. */
  readonly text: string;
}

/** One mistake in a configuration file. A refusal carries all of them at once in its detail, as `{ faults }`. */
export interface Fault extends Place {
  readonly code: Code;
  /** The field, as a path: `step[2].argv`; empty for the file as a whole. */
  readonly field: string;
  /** What is wrong, in one sentence without a full stop. */
  readonly message: string;
  /** The line of the other file, or of the same one, that the fault disagrees with. */
  readonly related?: Place;
}

/** At most so many faults are carried; the reason says how many there were. */
export const FAULT_LIMIT = 200;

/** One refusal for all faults: their own code when they share it, else `configuration-invalid`. */
export function faultsRefusal(faults: readonly Fault[]): Refusal {
  const [first] = faults;
  if (first === undefined) throw new TypeError('a refusal needs at least one fault');
  const same = faults.every((fault) => fault.code === first.code);
  const shown = faults.slice(0, FAULT_LIMIT).map(faultJson);
  const where = `${first.file}:${first.line}:${first.column}: ${first.message}`;
  const reason = faults.length === 1 ? `${where}.` : `${faults.length} faults, the first at ${where}.`;
  return refusal(same ? first.code : 'configuration-invalid', reason, { detail: { faults: shown } });
}

export const refusedFaults = (faults: readonly Fault[]): Outcome<never> => refused(faultsRefusal(faults));

/** The faults that a refusal carries; empty when it is about something else. */
export function faultsOf(about: Refusal): readonly Fault[] {
  const detail = about.detail;
  if (detail === null || typeof detail !== 'object' || !('faults' in detail)) return [];
  return detail['faults'] as unknown as readonly Fault[];
}

/**
 * The faults for a terminal: place and message, then the line with a mark under the column. Control characters are
 * shown as `·`.
 */
export function renderFaults(faults: readonly Fault[]): string {
  return faults.map(renderFault).join('\n\n');
}

function renderFault(fault: Fault): string {
  const lines = [`${fault.file}:${fault.line}:${fault.column}: ${fault.message} [${fault.code}]`, ...excerpt(fault)];
  if (fault.related !== undefined) {
    const { file, line, column } = fault.related;
    lines.push(`  against ${file}:${line}:${column}`, ...excerpt(fault.related));
  }
  return lines.join('\n');
}

function excerpt({ line, column, text }: Place): string[] {
  const margin = `${line}`.padStart(5);
  return [`${margin} | ${printable(text)}`, `${' '.repeat(margin.length)} | ${' '.repeat(column - 1)}^`];
}

const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '·');

/** Plain JSON: an absent `related` is left out. */
function faultJson({ related, ...fault }: Fault) {
  return { ...fault, ...(related === undefined ? {} : { related: { ...related } }) };
}
