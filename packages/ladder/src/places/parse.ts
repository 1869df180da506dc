import { type Outcome, ok } from '@idunn/kernel';
import type { z } from 'zod';
import type { Path } from '../ladder/check.ts';
import { type LadderDocument, readDocument } from '../ladder/document.ts';
import { type Fault, refusedFaults } from '../ladder/fault.ts';
import type { Ladder } from '../ladder/model.ts';
import { fieldName } from '../ladder/parse.ts';
import { type DataPlace, type PlacesFile, placesSchema, type RunsPlace } from './schema.ts';
import { sharedData } from './shared.ts';

/**
 * Reads a places file for a ladder: every mistake at once, each with file, line, column and field. `at` answers where
 * a path of the file really is, links followed.
 */
export function parsePlaces(
  text: string,
  file: string,
  ladder: Ladder,
  at: (path: string) => string = (path) => path,
): Outcome<PlacesFile> {
  const document = readDocument(text, file);
  if (!('place' in document)) return refusedFaults(document);
  const read = placesSchema.safeParse(document.value);
  if (!read.success) return refusedFaults(read.error.issues.flatMap((issue) => faultsOf(document, issue)));
  const places = located(read.data, at);
  const known = new Set(ladder.slots.map(({ name }) => name));
  const names = [...known].join(', ');
  const strangers = Object.keys(places.slots).filter((name) => !known.has(name));
  const faults = [
    ...strangers.map((name) =>
      faultAt(document, ['slots', name], 'undefined-reference', `the ladder has no slot ${name}; it has ${names}`),
    ),
    ...sharedData(places.slots).map(({ slot, other }) =>
      faultAt(document, ['slots', slot, 'data'], 'data-shared', `${slot} has its data where ${other} has its own`),
    ),
  ];
  return faults.length > 0 ? refusedFaults(faults) : ok(places);
}

function located({ audit, baseline, slots, ...rest }: PlacesFile, at: (path: string) => string): PlacesFile {
  return {
    ...rest,
    audit: at(audit),
    ...(baseline === undefined ? {} : { baseline: at(baseline) }),
    slots: Object.fromEntries(
      Object.entries(slots).map(([name, { runs, data }]) => [
        name,
        {
          ...(runs === undefined ? {} : { runs: runsAt(runs, at) }),
          ...(data === undefined ? {} : { data: dataAt(data, at) }),
        },
      ]),
    ),
  };
}

function runsAt(runs: RunsPlace, at: (path: string) => string): RunsPlace {
  if (runs.kind === 'kubernetes') return { ...runs, kubeconfig: at(runs.kubeconfig) };
  const key = runs.authorizer === undefined ? {} : { authorizer: at(runs.authorizer) };
  return { ...runs, fleet: at(runs.fleet), ...key };
}

function dataAt(data: DataPlace, at: (path: string) => string): DataPlace {
  if (data.kind !== 'postgres') return { ...data, path: at(data.path) };
  return data.password_file === undefined ? data : { ...data, password_file: at(data.password_file) };
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
