import type { Fault, RefusalAnswer } from '@idunn/client';
import type { Style } from './style.ts';

type Detail = RefusalAnswer['detail'];

/** Log lines, probe bodies and the like are shown up to here; `idunn logs` has the rest. */
const SHOWN_LINES = 30;

/** A refusal for a person: code and reason, the evidence that it rests on, and what to do next (F5, F7, F11). */
export function renderRefusal(refusal: RefusalAnswer, style: Style): string[] {
  const faults = faultsOf(refusal.detail);
  return [
    `${style.bad(refusal.code)}: ${refusal.reason}`,
    ...faults.flatMap((fault) => ['', ...renderFault(fault, style)]),
    ...(faults.length > 0 ? [''] : renderDetail(refusal.detail, '  ', style)),
    `${style.bold('what to do:')} ${refusal.remedy}`,
  ];
}

/** Where in a file, with the line as it stands there. */
type Place = Pick<Fault, 'file' | 'line' | 'column' | 'text'>;

/** A fault as refusals carry it: `related` is the line that it disagrees with, of this file or another. */
type ShownFault = Fault & { readonly code?: string; readonly related?: Place };

/** A fault with its place, its line, and a caret under the column; then the same of the line that it disagrees with. */
export function renderFault(fault: ShownFault, style: Style): string[] {
  const code = fault.code === undefined ? '' : ` [${fault.code}]`;
  const { related } = fault;
  return [
    `${style.bold(placeOf(fault))} ${fault.message}${code}`,
    ...excerpt(fault, style),
    ...(related === undefined ? [] : [`  against ${style.bold(placeOf(related))}`, ...excerpt(related, style)]),
  ];
}

const placeOf = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

function excerpt({ line, column, text }: Place, style: Style): string[] {
  const margin = ' '.repeat(String(line).length);
  const before = printable(text).slice(0, column - 1);
  return [`  ${line} | ${printable(text)}`, `  ${margin} | ${before.replaceAll(/[^\t]/g, ' ')}${style.bad('^')}`];
}

/** Whatever a refusal carries besides, as an indented list of names and values. */
function renderDetail(detail: Detail, indent: string, style: Style): string[] {
  if (detail === undefined || detail === null) return [];
  if (typeof detail !== 'object') return [`${indent}${printable(String(detail))}`];
  if (Array.isArray(detail)) return renderList(detail, indent, style);
  return Object.entries(detail).flatMap(([key, value]) => {
    const name = style.dim(`${wordsOf(key)}:`);
    if (value === null) return [`${indent}${name} none`];
    if (typeof value !== 'object') return multiline(`${indent}${name} `, `${indent}  `, String(value));
    const inner = renderDetail(value, `${indent}  `, style);
    return inner.length === 0 ? [`${indent}${name} none`] : [`${indent}${name}`, ...inner];
  });
}

function renderList(list: Extract<Detail, unknown[]>, indent: string, style: Style): string[] {
  const hidden = list.length - SHOWN_LINES;
  const shown = hidden > 0 ? list.slice(-SHOWN_LINES) : list;
  return [
    ...(hidden > 0 ? [`${indent}(${hidden} more before)`] : []),
    ...shown.flatMap((item) =>
      typeof item === 'object' ? renderDetail(item, `${indent}  `, style) : [`${indent}| ${printable(String(item))}`],
    ),
  ];
}

function multiline(head: string, indent: string, text: string): string[] {
  const lines = text.split('\n').map(printable);
  if (lines.length === 1) return [`${head}${lines[0] ?? ''}`];
  return [head.trimEnd(), ...lines.slice(-SHOWN_LINES).map((line) => `${indent}| ${line}`)];
}

function faultsOf(detail: Detail): ShownFault[] {
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return [];
  const { faults } = detail as { faults?: unknown };
  return Array.isArray(faults) && faults.every(isFault) ? inReadingOrder(faults) : [];
}

/** File by file as they were met, and from the top of each. */
function inReadingOrder(faults: readonly ShownFault[]): ShownFault[] {
  const files = [...new Set(faults.map(({ file }) => file))];
  return faults.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}

const isFault = (value: unknown): value is Fault =>
  typeof value === 'object' &&
  value !== null &&
  'file' in value &&
  'line' in value &&
  'column' in value &&
  'text' in value;

/** `lastPresence` as `last presence`. */
const wordsOf = (key: string): string =>
  key.replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);

/** What a program printed, or a person wrote, cannot steer the terminal or turn a line around; tabs stay. */
export const printable = (text: string): string => text.replaceAll(/(?!\t)[\p{Cc}\p{Bidi_Control}]/gu, '·');
