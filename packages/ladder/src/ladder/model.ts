import type { JsonObject } from '@idunn/kernel';

/** The one version of the ladder file that this package reads. */
export const LADDER_VERSION = 'idunn.ladder/v1';

/** What a slot is for. Declared, never inferred from its name. */
export type Role = 'development' | 'test' | 'staging' | 'production';

/** A line of a file. Line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The source line's text. */
  readonly text: string;
}

/** One environment. Fields are spelled as in the ladder file. */
export interface Slot {
  readonly name: string;
  /** Where the slot lives: a cluster's namespace, or the id of a fleet. */
  readonly namespace: string;
  /** Every host that belongs to the slot; one that no slot lists belongs to none. */
  readonly hosts: readonly string[];
  readonly role: Role;
  /** Whether the guard protects it. Declared on its own: any role may be guarded, production must be. */
  readonly guarded: boolean;
  /** The slots that code may move to next. */
  readonly promotes_to: readonly string[];
  /** The consumer's own facts: carried, never read. */
  readonly meta?: JsonObject;
  /** Names and namespaces that a baseline gave it and a configuration changed: they mean this slot all the same. */
  readonly aliases?: readonly string[];
  /** Where it was declared; absent for a slot that was declared in code. */
  readonly declaredAt?: Place;
}

/** Environments in the order in which they were declared, and the way that code moves between them. */
export interface Ladder {
  readonly apiVersion: typeof LADDER_VERSION;
  readonly meta: JsonObject;
  readonly slots: readonly Slot[];
}
