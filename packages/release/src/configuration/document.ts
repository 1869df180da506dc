import { parse, TomlError } from 'smol-toml';
import type { Fault, Place } from './fault.ts';
import { locate } from './locate.ts';
import { fieldName, type Path } from './path.ts';

/** A parsed TOML file that can say where each of its values is written. */
export interface Document {
  readonly file: string;
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** Where the field is written; for an absent field the nearest table or value around it. */
  place(path: Path): Place;
}

/** Configuration files are written by people; a larger one is a mistake. */
export const CONFIGURATION_LIMIT_BYTES = 262_144;
const DEPTH_LIMIT = 32;
/** Of a line that a fault shows, so that many faults in one long line stay small. */
const SHOWN_CHARACTERS = 300;

/** Strict TOML, with duplicate keys and unsafe ones refused. Answers the document or the one syntax fault. */
export function parseDocument(text: string, file: string): Document | Fault {
  const lines = text.split('\n');
  const placeAt = (line: number, column: number): Place => ({
    file,
    line,
    column,
    text: (lines[line - 1] ?? '').replace(/\r$/, '').slice(0, SHOWN_CHARACTERS),
  });
  const syntax = (line: number, column: number, message: string): Fault => ({
    ...placeAt(line, column),
    code: 'toml-syntax',
    field: '',
    message,
  });
  if (Buffer.byteLength(text) > CONFIGURATION_LIMIT_BYTES) {
    return syntax(1, 1, `the file is larger than ${CONFIGURATION_LIMIT_BYTES} bytes`);
  }
  try {
    const value = parse(text, { unsafeKeyBehaviour: 'throw', maxDepth: DEPTH_LIMIT });
    if (isDeeper(value, DEPTH_LIMIT)) return syntax(1, 1, `a key nests deeper than ${DEPTH_LIMIT} levels`);
    let find: ((path: Path) => { line: number; column: number }) | undefined;
    const place = (path: Path): Place => {
      find ??= locate(text);
      const { line, column } = find(path);
      return placeAt(line, column);
    };
    return { file, text, value, place };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const message = (error.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '');
    return syntax(error.line, error.column, message);
  }
}

/** The parser limits brackets, not the dots of a key. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

export const isFault = (result: Document | Fault): result is Fault => 'code' in result;

/** Builds faults that point into one document. */
export function faultAt(document: Document, path: Path, code: Fault['code'], message: string, related?: Place): Fault {
  const fault = { ...document.place(path), code, field: fieldName(path), message };
  return related === undefined ? fault : { ...fault, related };
}
