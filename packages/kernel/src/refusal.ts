import type { Code } from './catalogue/index.ts';
import { catalogue } from './catalogue/index.ts';
import type { Json } from './json.ts';

/** An answer that changes nothing and names the reason and the remedy. A value, never thrown across a port. */
export interface Refusal {
  readonly code: Code;
  /** One sentence: what was refused and why, with the names at hand. */
  readonly reason: string;
  /** What to do next, a command where there is one. */
  readonly remedy: string;
  /** Faults, last presence, last probe, last log lines: whatever the person needs to see. */
  readonly detail?: Json;
}

/** Builds a refusal; the remedy is the catalogue's unless a more exact one is at hand. */
export function refusal(code: Code, reason: string, more: { remedy?: string; detail?: Json } = {}): Refusal {
  return {
    code,
    reason,
    remedy: more.remedy ?? catalogue[code].remedy,
    ...(more.detail === undefined ? {} : { detail: more.detail }),
  };
}

/** A result that is either a value or a refusal. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const ok = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const refused = (refusal: Refusal): Outcome<never> => ({ ok: false, refusal });
