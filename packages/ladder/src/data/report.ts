import { type JsonObject, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';
import { type Watermark, watermarkSchema } from './watermark.ts';

const detail = z.string().min(1);
const named = {
  name: z.string().min(1),
  /** A part that may be skipped without spoiling the verdict. It is shown all the same. */
  optional: z.boolean(),
};
const count = z.int().min(0);

/**
 * One part of an application's data and how far it was captured. "Not attempted", "attempted and failed" and
 * "attempted, outcome unknown" are different facts. `items` is `null` when the number is unknown; it is never 0
 * instead.
 */
export const partSchema = z.discriminatedUnion('state', [
  z.strictObject({ ...named, state: z.literal('complete'), items: count.nullable() }),
  z.strictObject({ ...named, state: z.literal('partial'), captured: count, expected: count, detail }),
  z.strictObject({ ...named, state: z.literal('skipped'), detail }),
  z.strictObject({ ...named, state: z.literal('failed'), detail }),
  z.strictObject({ ...named, state: z.literal('unknown'), detail }),
]);

export type Part = z.infer<typeof partSchema>;

/** What the application says of its data: every part that there is, captured or not. */
export interface DumpReport {
  readonly parts: readonly Part[];
  /** `null` when the application cannot say. */
  readonly watermark: Watermark | null;
  /** Whatever must ride along; nobody but the application reads it. */
  readonly appMeta: JsonObject;
}

/** Held to the same standard. */
export interface LoadReport {
  readonly parts: readonly Part[];
}

export const dumpReportSchema = z.strictObject({
  parts: z.array(partSchema).max(1_000),
  watermark: watermarkSchema.nullable(),
  appMeta: z.record(z.string(), z.json()),
});

export const part = {
  complete: (name: string, items: number | null): Part => ({ name, optional: false, state: 'complete', items }),
  partial: (name: string, captured: number, expected: number, detail: string): Part => ({
    name,
    optional: false,
    state: 'partial',
    captured,
    expected,
    detail,
  }),
  skipped: (name: string, detail: string): Part => ({ name, optional: false, state: 'skipped', detail }),
  failed: (name: string, detail: string): Part => ({ name, optional: false, state: 'failed', detail }),
  unknown: (name: string, detail: string): Part => ({ name, optional: false, state: 'unknown', detail }),
  /** The same part, that may be skipped. */
  optional: (of: Part): Part => ({ ...of, optional: true }),
} as const;

/** Whether all that the application declared was captured. */
export type Completeness =
  | { readonly kind: 'complete' }
  | { readonly kind: 'incomplete'; readonly parts: readonly string[] }
  | { readonly kind: 'unknown'; readonly because: string };

export const completenessSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('complete') }),
  z.strictObject({ kind: z.literal('incomplete'), parts: z.array(z.string()) }),
  z.strictObject({ kind: z.literal('unknown'), because: z.string() }),
]);

/** No part at all is what a dump that never ran looks like, so it is unknown and never complete. */
export function completeness(parts: readonly Part[]): Completeness {
  if (parts.length === 0) return { kind: 'unknown', because: 'no part was declared' };
  const twice = parts.find(({ name }, index) => parts.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) return { kind: 'unknown', because: `the part ${twice.name} was declared twice` };
  if (!z.array(partSchema).safeParse(parts).success) return { kind: 'unknown', because: 'a part lacks its detail' };
  const missing = parts.filter((one) => one.state !== 'complete' && !(one.optional && one.state === 'skipped'));
  return missing.length === 0 ? { kind: 'complete' } : { kind: 'incomplete', parts: missing.map(({ name }) => name) };
}

/** A line for each part, for people. */
export const partLines = (parts: readonly Part[]): readonly string[] => parts.map(partLine);

function partLine(one: Part): string {
  const name = one.optional ? `${one.name} (optional)` : one.name;
  switch (one.state) {
    case 'complete':
      return `${name}: complete, ${one.items === null ? 'an unknown number of items' : `${one.items} items`}`;
    case 'partial':
      return `${name}: partial, ${one.captured} of ${one.expected}: ${one.detail}`;
    case 'skipped':
    case 'failed':
    case 'unknown':
      return `${name}: ${one.state}: ${one.detail}`;
  }
}

/** Refuses anything but a whole report, with a line for each part. */
export function requireComplete(parts: readonly Part[]): Outcome<void> {
  const verdict = completeness(parts);
  if (verdict.kind === 'complete') return ok(undefined);
  const what = verdict.kind === 'unknown' ? verdict.because : `not complete: ${verdict.parts.join(', ')}`;
  return refused(
    refusal('capture-incomplete', `The data is not whole: ${what}.`, { detail: { parts: partLines(parts) } }),
  );
}
