import { type Outcome, ok } from '@idunn/kernel';
import type { z } from 'zod';
import { ladderProblems, type Path } from './check.ts';
import { type LadderDocument, readDocument } from './document.ts';
import { type Fault, refusedFaults } from './fault.ts';
import { LADDER_VERSION, type Ladder, type Slot } from './model.ts';
import { LADDER_FIELDS, SLOT_FIELDS } from './shape.ts';

/**
 * Reads a ladder file, YAML or JSON. Every mistake in it is in the refusal, each with file, line, column and field. A
 * file of another version is not read any further than its version.
 */
export function parseLadder(text: string, file: string): Outcome<Ladder> {
  const document = readDocument(text, file);
  if (!('place' in document)) return refusedFaults(document);
  const reader = new Reader(document);
  const { value } = document;
  if (!isRecord(value)) return refusedFaults([reader.fault([], 'invalid-value', 'a ladder is a map of fields')]);
  const version = value['apiVersion'];
  if (version !== LADDER_VERSION) {
    const message =
      version === undefined ? 'apiVersion is missing' : `apiVersion ${JSON.stringify(version)} is unknown`;
    return refusedFaults([
      reader.fault(['apiVersion'], 'ladder-version-unknown', `${message}; this reads ${LADDER_VERSION}`),
    ]);
  }
  const top = reader.fields([], value, LADDER_FIELDS);
  const slots = (top.slots ?? []).map((slot, index) => reader.slot(['slots', index], slot));
  for (const { code, path, message, related } of ladderProblems(slots)) {
    reader.faults.push(reader.fault(path, code, message, related));
  }
  if (reader.faults.length > 0) return refusedFaults(reader.faults.toSorted(byPlace));
  return ok({ apiVersion: LADDER_VERSION, meta: top.meta ?? {}, slots: slots as readonly Slot[] });
}

type Valid<Fields extends Readonly<Record<string, z.ZodType>>> = { -readonly [K in keyof Fields]?: z.infer<Fields[K]> };

/** Reads fields one by one and keeps every fault that it meets. */
class Reader {
  readonly faults: Fault[] = [];
  readonly #document: LadderDocument;

  constructor(document: LadderDocument) {
    this.#document = document;
  }

  fault(path: Path, code: Fault['code'], message: string, related?: Path): Fault {
    const fault = { ...this.#document.place(path), code, field: fieldName(path), message };
    return related === undefined ? fault : { ...fault, related: this.#document.place(related) };
  }

  slot(path: Path, value: unknown): Partial<Slot> {
    if (!isRecord(value)) {
      this.faults.push(this.fault(path, 'invalid-value', 'a slot is a map of fields'));
      return {};
    }
    const { meta, ...fields } = this.fields(path, value, SLOT_FIELDS);
    return { ...fields, ...(meta === undefined ? {} : { meta }), declaredAt: this.#document.place(path) };
  }

  /** The fields that are valid, whatever is wrong with the others. */
  fields<Fields extends Readonly<Record<string, z.ZodType>>>(
    base: Path,
    value: Readonly<Record<string, unknown>>,
    fields: Fields,
  ): Valid<Fields> {
    const valid: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(fields, key)) continue;
      this.faults.push(
        this.fault([...base, key], 'unknown-field', `${fieldName([...base, key])} is no field of a ladder`),
      );
    }
    for (const [key, schema] of Object.entries(fields)) {
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      const result = schema.safeParse(given);
      if (result.success) valid[key] = result.data;
      else if (given === undefined) {
        this.faults.push(this.fault([...base, key], 'missing-field', `${fieldName([...base, key])} must be given`));
      } else {
        for (const issue of result.error.issues) {
          const path = [...base, key, ...(issue.path as Path)];
          this.faults.push(this.fault(path, 'invalid-value', `${fieldName(path)}: ${issue.message}`));
        }
      }
    }
    return valid as Valid<Fields>;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const byPlace = (a: Fault, b: Fault): number => a.line - b.line || a.column - b.column;

/** `['slots', 2, 'guarded']` as `slots[2].guarded`. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    const key = /^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part);
    return name === '' ? key : `${name}.${key}`;
  }, '');
}
