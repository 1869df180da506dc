import { isOf } from './generation-name.ts';
import { wwwTwin } from './host.ts';
import type { Slot } from './model.ts';

/** What identities are read from; a slot that is only partly valid has some of them. */
export type Identified = Partial<Pick<Slot, 'name' | 'namespace' | 'hosts' | 'guarded' | 'aliases'>>;

/** The text of one identity of a slot, and the field it stands in. */
export interface Identity {
  readonly text: string;
  readonly field: 'name' | 'namespace' | 'hosts' | 'aliases';
  /** Position in a list. */
  readonly index?: number;
}

/**
 * Every text that means this slot and no other, whichever kind of reference it is given as. `www.` is folded for
 * guarded slots only: that can make the guard refuse more, never less.
 */
export function identitiesOf(slot: Identified): readonly Identity[] {
  return [
    ...(slot.name === undefined ? [] : [{ text: slot.name, field: 'name' as const }]),
    ...(slot.namespace === undefined ? [] : [{ text: slot.namespace, field: 'namespace' as const }]),
    ...(slot.aliases ?? []).map((text, index) => ({ text, field: 'aliases' as const, index })),
    ...(slot.hosts ?? []).flatMap((host, index) => [
      { text: host, field: 'hosts' as const, index },
      ...(slot.guarded === true ? [{ text: wwwTwin(host), field: 'hosts' as const, index }] : []),
    ]),
  ];
}

/** The names that a slot's generations are made from. */
export const basesOf = (slot: Identified): readonly string[] =>
  [...new Set([slot.name, slot.namespace, ...(slot.aliases ?? [])])].filter((base) => base !== undefined);

/** Whether a namespace is the slot's own or one of its generations. */
export const ownsNamespace = (slot: Identified, namespace: string): boolean =>
  basesOf(slot).some((base) => namespace === base || isOf(base, namespace));
