import { type Outcome, ok } from '@idunn/kernel';
import type { z } from 'zod';
import type { Path } from '../ladder/check.ts';
import { type LadderDocument, readDocument } from '../ladder/document.ts';
import { type Fault, refusedFaults } from '../ladder/fault.ts';
import type { Ladder } from '../ladder/model.ts';
import { fieldName } from '../ladder/parse.ts';
import { type PlacesFile, placesSchema } from './schema.ts';

/** Reads a places file for a ladder: every mistake at once, each with file, line, column and field. */
export function parsePlaces(text: string, file: string, ladder: Ladder): Outcome<PlacesFile> {
  const document = readDocument(text, file);
  if (!('place' in document)) return refusedFaults(document);
  const read = placesSchema.safeParse(document.value);
  if (!read.success) return refusedFaults(read.error.issues.flatMap((issue) => faultsOf(document, issue)));
  const known = new Set(ladder.slots.map(({ name }) => name));
  const strangers = Object.keys(read.data.slots).filter((name) => !known.has(name));
  if (strangers.length > 0) {
    const names = [...known].join(', ');
    return refusedFaults(
      strangers.map((name) =>
        faultAt(document, ['slots', name], 'undefined-reference', `the ladder has no slot ${name}; it has ${names}`),
      ),
    );
  }
  return ok(read.data);
}

function faultsOf(document: LadderDocument, issue: z.core.$ZodIssue): Fault[] {
  const at = issue.path as Path;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const path = [...at, key];
      return faultAt(document, path, 'unknown-field', `${fieldName(path)} is no field of a places file`);
    });
  }
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  const message = missing ? `${fieldName(at)} must be given` : `${fieldName(at) || 'the file'}: ${issue.message}`;
  return [faultAt(document, at, missing ? 'missing-field' : 'invalid-value', message)];
}

const faultAt = (document: LadderDocument, path: Path, code: Fault['code'], message: string): Fault => ({
  ...document.place(path),
  code,
  field: fieldName(path),
  message,
});
