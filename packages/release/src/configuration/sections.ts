import type { z } from 'zod';
import { type Document, faultAt } from './document.ts';
import type { Fault } from './fault.ts';
import { fieldName, type Path } from './path.ts';

/** The top-level fields that are valid, whatever is wrong with the others. */
export type Sections<Shape extends z.ZodRawShape> = { readonly [K in keyof Shape]?: z.infer<Shape[K]> };

/**
 * Holds each top-level field against its schema on its own, so that the checks between fields can still run on those
 * that are valid and every fault is reported in one go.
 */
export function parseSections<Shape extends z.ZodRawShape>(
  shape: Shape,
  document: Document,
): { readonly sections: Sections<Shape>; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const sections: Record<string, unknown> = {};
  for (const key of Object.keys(document.value)) {
    if (!Object.hasOwn(shape, key)) faults.push(faultAt(document, [key], 'unknown-field', unknownMessage([key])));
  }
  for (const [key, schema] of Object.entries(shape)) {
    const result = (schema as z.ZodType).safeParse(document.value[key]);
    if (result.success) sections[key] = result.data;
    else for (const issue of result.error.issues) faults.push(...issueFaults(document, [key], issue));
  }
  return { sections: sections as Sections<Shape>, faults };
}

type Issue = z.core.$ZodIssue;

function issueFaults(document: Document, base: Path, issue: Issue): Fault[] {
  const path = [...base, ...(issue.path as Path)];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) =>
        faultAt(document, [...path, key], 'unknown-field', unknownMessage([...path, key])),
      );
    case 'invalid_key':
      return [
        faultAt(document, path, 'invalid-value', `${fieldName(path)}: ${issue.issues[0]?.message ?? issue.message}`),
      ];
    case 'invalid_union':
      return unionFaults(document, path, issue);
    default:
      break;
  }
  if (valueAt(document.value, path) === undefined) {
    return [faultAt(document, path, 'missing-field', `${fieldName(path)} is missing`)];
  }
  return [faultAt(document, path, 'invalid-value', `${fieldName(path)}: ${lowerFirst(issue.message)}`)];
}

/** Of several forms, the one that the value comes nearest to speaks: its faults lie deeper than the value itself. */
function unionFaults(document: Document, path: Path, issue: Issue & { code: 'invalid_union' }): Fault[] {
  const nearest = issue.errors.find((issues) =>
    issues.some((inner) => inner.path.length > 0 || inner.code === 'custom'),
  );
  if (nearest !== undefined) return nearest.flatMap((inner) => issueFaults(document, path, inner));
  if (valueAt(document.value, path) === undefined) {
    return [faultAt(document, path, 'missing-field', `${fieldName(path)} is missing`)];
  }
  return [faultAt(document, path, 'invalid-value', `${fieldName(path)}: ${lowerFirst(issue.message)}`)];
}

const unknownMessage = (path: Path): string => `unknown field ${fieldName(path)}`;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      inner !== null && typeof inner === 'object' ? (inner as Record<string | number, unknown>)[part] : undefined,
    value,
  );
}
