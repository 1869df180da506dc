import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Path } from './check.ts';
import type { Fault } from './fault.ts';
import type { Place } from './model.ts';

/** A parsed ladder file that can say where each of its values is written. */
export interface LadderDocument {
  readonly value: unknown;
  /** Where the field is written; for an absent field the nearest value around it. */
  place(path: Path): Place;
}

/** A ladder is written by people; a larger file is a mistake. */
export const LADDER_LIMIT_BYTES = 262_144;

/** Strict YAML 1.2, which JSON is part of: one document, no duplicate keys, no tags, no aliases. */
export function readDocument(text: string, file: string): LadderDocument | readonly Fault[] {
  const lines = text.split('\n');
  const counter = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { file, line, column: col, text: (lines[line - 1] ?? '').replace(/\r$/, '') };
  };
  const syntax = (offset: number, message: string): Fault => ({
    ...placeAt(offset),
    code: 'ladder-syntax',
    field: '',
    message,
  });
  if (Buffer.byteLength(text) > LADDER_LIMIT_BYTES) {
    return [{ ...syntax(0, `the file is larger than ${LADDER_LIMIT_BYTES} bytes`), line: 1, column: 1 }];
  }
  const document = parsed(text, counter);
  if (document === null) return [{ ...syntax(0, 'the file is nested too deeply'), line: 1, column: 1 }];
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) =>
    syntax(pos[0], (message.split('\n')[0] ?? '').replace(/ at line .*$/, '')),
  );
  visit(document, (_, node) => {
    if (isAlias(node)) faults.push(syntax(node.range?.[0] ?? 0, 'an alias: write the value where it belongs'));
    if (isScalar(node) && node.value === '__proto__') faults.push(syntax(node.range?.[0] ?? 0, '__proto__ is no word'));
  });
  if (faults.length > 0) return faults;
  const offset = (path: Path): number => offsetOf(document.contents, path);
  return { value: document.toJS() as unknown, place: (path) => placeAt(offset(path)) };
}

function parsed(text: string, lineCounter: LineCounter) {
  try {
    return parseDocument(text, { version: '1.2', uniqueKeys: true, strict: true, lineCounter, prettyErrors: true });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Where the innermost part of the path that is there begins; a field begins at its key. */
function offsetOf(root: unknown, path: Path): number {
  let offset = isNode(root) ? (root.range?.[0] ?? 0) : 0;
  let node: unknown = root;
  for (const part of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === part) : undefined;
    const next = pair?.value ?? (typeof part === 'number' && isSeq(node) ? node.items[part] : undefined);
    const start = pair !== undefined && isNode(pair.key) ? pair.key : next;
    if (!isNode(start)) return offset;
    offset = start.range?.[0] ?? offset;
    node = next;
  }
  return offset;
}
