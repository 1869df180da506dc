import { type Outcome, ok, type Refusal, refusal, refused } from '@idunn/kernel';
import { ownsNamespace } from '../ladder/identity.ts';
import type { Slot } from '../ladder/model.ts';
import { shown, type TargetRef } from '../registry/reference.ts';
import type { SlotRegistry } from '../registry/registry.ts';
import { type Keys, missingKeys } from './keys.ts';

/** Known in this file only. */
const KEY = Symbol('guard');
let mint: (slot: Slot) => Clearance;
let slotOf: (value: unknown) => Slot | null;

/**
 * The guard's word that one slot may be changed. Every operation that changes something takes one, and only the guard
 * can make one: the private field is a brand to the compiler, and is looked for again when the clearance is used.
 */
export class Clearance {
  readonly #slot: Slot;

  private constructor(slot: Slot, key: symbol) {
    if (key !== KEY) throw new TypeError('only the guard makes a clearance');
    this.#slot = slot;
    Object.freeze(this);
  }

  get slot(): Slot {
    return this.#slot;
  }

  static {
    mint = (slot) => new Clearance(slot, KEY);
    slotOf = (value) => (typeof value === 'object' && value !== null && #slot in value ? value.#slot : null);
    Object.freeze(this.prototype);
  }
}

/** Judges a reference without making anything of it: which slot it means, or why it may not be changed. Pure. */
export function judge(registry: SlotRegistry, keys: Keys, ref: TargetRef): Outcome<Slot> {
  const resolution = registry.resolve(ref);
  if (resolution.kind === 'unknown') return refused(unknownTarget(registry, ref));
  const { slot } = resolution;
  const missing = slot.guarded ? missingKeys(keys) : [];
  if (missing.length === 0) return ok(slot);
  const { text } = shown(ref);
  const keysMissing = missing.join(' and ');
  const reason = `${text} means the guarded slot ${slot.name}; missing is ${keysMissing}.`;
  const remedy = `If ${slot.name} is really meant, repeat the command with ${keysMissing}.`;
  return refused(refusal('guard-key-missing', reason, { remedy, detail: about(ref, registry.notesOn(slot)) }));
}

/** The one way to a clearance: through the judgement. */
export function clear(registry: SlotRegistry, keys: Keys, ref: TargetRef): Outcome<Clearance> {
  const judged = judge(registry, keys, ref);
  return judged.ok ? ok(mint(judged.value)) : judged;
}

/** What every use of a clearance asks first. The value is looked at, not its type: a cast makes no clearance. */
export function requireCovers(clearance: Clearance, namespace: string): Outcome<Slot> {
  const slot = slotOf(clearance);
  if (slot === null) {
    return refused(refusal('clearance-not-genuine', `What was given for ${namespace} was not made by the guard.`));
  }
  if (ownsNamespace(slot, namespace)) return ok(slot);
  const reason = `The clearance is for ${slot.name}, and ${namespace} is no namespace of that slot.`;
  return refused(refusal('clearance-elsewhere', reason));
}

/**
 * The same for a slot as an application is given it: it must be the slot that was cleared, not only stand in its
 * place.
 */
export function requireSlot(clearance: Clearance, { name, namespace }: Slot): Outcome<Slot> {
  const covered = requireCovers(clearance, namespace);
  if (!covered.ok || covered.value.name === name) return covered;
  return refused(refusal('clearance-elsewhere', `The clearance is for ${covered.value.name}, and not for ${name}.`));
}

/** Whether the clearance is genuine and covers the namespace. */
export const covers = (clearance: Clearance, namespace: string): boolean => requireCovers(clearance, namespace).ok;

/** What is not known is treated as guarded, whatever keys there are: a tool that acts on any text acts on a typo. */
export function unknownTarget(registry: SlotRegistry, ref: TargetRef): Refusal {
  const { kind, text } = shown(ref);
  const names = registry.ladder.slots.map(({ name }) => name).join(', ');
  const notes = registry.demotions.map(({ because }) => `The configuration tried to lower the guard: ${because}`);
  return refusal('slot-unknown', `No slot is meant by the ${kind} ${text}; there are ${names}.`, {
    detail: about(ref, notes),
  });
}

const about = (ref: TargetRef, notes: readonly string[]) => ({ target: { ...shown(ref) }, notes });
