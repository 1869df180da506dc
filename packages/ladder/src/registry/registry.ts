import { type JsonObject, type Outcome, ok, type Refusal, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';
import { ladderProblems } from '../ladder/check.ts';
import { LADDER_VERSION, type Ladder, type Slot } from '../ladder/model.ts';
import { fieldName } from '../ladder/parse.ts';
import { SLOT_FIELDS } from '../ladder/shape.ts';
import { type Demotion, merge } from './merge.ts';
import type { TargetRef } from './reference.ts';
import { type Resolution, resolve } from './resolve.ts';

/**
 * What happens when a configuration would lower a guarded slot: `refuse` does not load it; `report-and-keep-guarded`
 * loads it with the slot guarded and tells of the attempt wherever the slot is met. There is no third: a
 * configuration that wins would be no guard.
 */
export type DemotionPolicy = 'refuse' | 'report-and-keep-guarded';

/** Every slot, checked and frozen, and what each reference means. Made by `createRegistry` and `loadOver` only. */
export class SlotRegistry {
  readonly #ladder: Ladder;
  readonly #demotions: readonly Demotion[];

  /** Throws `TypeError` for slots that the checks of a ladder refuse, so that none can be had around them. */
  constructor(ladder: Ladder, demotions: readonly Demotion[]) {
    if (ladderProblems(ladder.slots).length > 0) throw new TypeError('a registry has no ambiguous slots');
    this.#ladder = frozen(structuredClone(ladder));
    this.#demotions = frozen(structuredClone(demotions));
    Object.freeze(this);
  }

  get ladder(): Ladder {
    return this.#ladder;
  }

  /** Attempts to lower the guard, that were kept from it. */
  get demotions(): readonly Demotion[] {
    return this.#demotions;
  }

  resolve(ref: TargetRef): Resolution {
    return resolve(this.#ladder.slots, ref);
  }

  /** Sentences about attempts to lower the guard of this slot; they go into every refusal that touches it. */
  notesOn(slot: Slot): readonly string[] {
    return this.#demotions
      .filter((demotion) => [slot.name, ...(slot.aliases ?? [])].includes(demotion.slot))
      .map(({ because }) => `The configuration tried to lower the guard: ${because}`);
  }
}

Object.freeze(SlotRegistry.prototype);

/** The baseline: slots declared in code, at least every guarded one. Checked as a ladder file is. */
export function createRegistry(slots: readonly Slot[], meta: JsonObject = {}): Outcome<SlotRegistry> {
  const read = z.array(declaredSlot).min(1).safeParse(slots);
  if (!read.success) {
    const messages = read.error.issues.map(
      ({ path, message }) => `${fieldName(['slots', ...(path as string[])])}: ${message}`,
    );
    return refused(refusal('invalid-value', `${messages.join('; ')}.`, { detail: { problems: messages } }));
  }
  return registryOf({ apiVersion: LADDER_VERSION, meta, slots: read.data as readonly Slot[] }, []);
}

/** A configuration over a baseline. What comes out is checked again, so nothing ambiguous comes in by the merge. */
export function loadOver(
  baseline: SlotRegistry,
  config: Ladder,
  policy: DemotionPolicy = 'refuse',
): Outcome<SlotRegistry> {
  const checked = createRegistry(config.slots, config.meta);
  if (!checked.ok) return checked;
  const { slots, demotions } = merge(baseline.ladder.slots, checked.value.ladder.slots);
  if (demotions.length > 0 && policy !== 'report-and-keep-guarded') return refused(demotionRefusal(demotions));
  return registryOf({ ...config, slots }, demotions);
}

const declaredSlot = z.strictObject({ ...SLOT_FIELDS, declaredAt: z.custom<Slot['declaredAt']>().optional() });

function registryOf(ladder: Ladder, demotions: readonly Demotion[]): Outcome<SlotRegistry> {
  const problems = ladderProblems(ladder.slots);
  const [first] = problems;
  if (first === undefined) return ok(new SlotRegistry(ladder, demotions));
  const messages = problems.map(({ path, message }) => `${fieldName(path)}: ${message}`);
  const same = problems.every(({ code }) => code === first.code);
  const detail = { problems: messages, demotions: demotions.map(({ because }) => because) };
  return refused(refusal(same ? first.code : 'configuration-invalid', `${messages.join('; ')}.`, { detail }));
}

function demotionRefusal(demotions: readonly Demotion[]): Refusal {
  const sentences = demotions.map(({ because }) => because);
  return refusal('guard-demotion', `The configuration would lower the guard: ${sentences.join(' ')}`, {
    detail: { demotions: demotions.map((demotion) => ({ ...demotion })) },
  });
}

/** Freezes a value and all that it holds. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}
