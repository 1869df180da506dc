import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { generationName, generationTimeMs } from '../ladder/generation-name.ts';
import { basesOf } from '../ladder/identity.ts';
import type { Slot } from '../ladder/model.ts';

/** One of a slot's namespaces that live beside each other, named after the UTC minute in which it was made. */
export interface Generation {
  readonly slot: string;
  readonly namespace: string;
  /** The minute of its name, in milliseconds since the Unix epoch. */
  readonly madeAtMs: number;
}

/**
 * Names a new generation of a slot: `<slot>-YYYYMMDD-HHMM`, in UTC. Refused when `existing` has the name already: a
 * second generation in the same minute would be put into the first one.
 */
export function newGeneration(slot: Slot, atMs: number, existing: readonly string[]): Outcome<Generation> {
  const namespace = generationName(slot.name, atMs);
  if (existing.includes(namespace)) {
    return refused(refusal('generation-exists', `${namespace} was already made in this minute.`));
  }
  return ok({ slot: slot.name, namespace, madeAtMs: generationTimeMs(slot.name, namespace) ?? atMs });
}

/** The generations of a slot among namespaces, newest first; of two of one minute, the later name first. */
export function generationsOf(slot: Slot, namespaces: readonly string[]): readonly Generation[] {
  return [...new Set(namespaces)]
    .flatMap((namespace) => generationOf(slot, namespace) ?? [])
    .toSorted((a, b) => b.madeAtMs - a.madeAtMs || (a.namespace < b.namespace ? 1 : -1));
}

function generationOf(slot: Slot, namespace: string): Generation | null {
  for (const base of basesOf(slot)) {
    const madeAtMs = generationTimeMs(base, namespace);
    if (madeAtMs !== null) return { slot: slot.name, namespace, madeAtMs };
  }
  return null;
}
