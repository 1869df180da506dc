import { type Document, faultAt } from './document.ts';
import type { Fault } from './fault.ts';
import { type Path } from './path.ts';

/** A part of the vocabulary that this version parses and does not act on yet. */
export interface Unsupported {
  /** The field; `*` stands for any key or element. */
  readonly at: Path;
  /** Which values are meant; absent: any. */
  readonly when?: (value: unknown) => boolean;
  /** Names the feature for people: `static releases`. */
  readonly feature: string;
}

export const isNot =
  (...supported: readonly unknown[]) =>
  (value: unknown): boolean =>
    !supported.includes(value);

/** Every use of an unsupported feature, refused by name; never ignored. */
export function unsupportedFaults(document: Document, features: readonly Unsupported[]): readonly Fault[] {
  return features.flatMap(({ at, when, feature }) =>
    matches(document.value, at).flatMap(({ path, value }) =>
      when === undefined || when(value)
        ? [faultAt(document, path, 'feature-not-yet-supported', `${feature}: not yet supported`)]
        : [],
    ),
  );
}

interface Match {
  readonly path: Path;
  readonly value: unknown;
}

function matches(root: unknown, pattern: Path): readonly Match[] {
  return pattern.reduce<readonly Match[]>(
    (found, part) => found.flatMap((match) => descend(match, part)),
    [{ path: [], value: root }],
  );
}

function descend({ path, value }: Match, part: string | number): readonly Match[] {
  if (value === null || typeof value !== 'object') return [];
  if (part === '*') {
    const keys: Path = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    return keys.flatMap((key) => descend({ path, value }, key));
  }
  if (!Object.hasOwn(value, part)) return [];
  return [{ path: [...path, part], value: (value as Record<string | number, unknown>)[part] }];
}
