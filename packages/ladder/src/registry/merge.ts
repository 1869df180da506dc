import { isOf } from '../ladder/generation-name.ts';
import { basesOf, identitiesOf } from '../ladder/identity.ts';
import type { Slot } from '../ladder/model.ts';

/** An attempt of a configuration to take the guard from a slot that was declared guarded in code. */
export interface Demotion {
  /** The slot's name in the baseline. */
  readonly slot: string;
  readonly how: 'omitted' | 'lowered' | 'claimed';
  /** What the configuration did, with its line, in one sentence. */
  readonly because: string;
}

export interface Merge {
  readonly slots: readonly Slot[];
  readonly demotions: readonly Demotion[];
}

/**
 * Lays a configuration over a baseline. It may add slots, change unguarded ones, and raise any; what the baseline
 * guards stays guarded with every identity that it had, and each attempt to change that is told.
 */
export function merge(baseline: readonly Slot[], config: readonly Slot[]): Merge {
  const demotions: Demotion[] = [];
  const owned = new Map<Slot, Slot>();
  for (const base of baseline.filter((slot) => slot.guarded)) {
    const touching = config.filter((slot) => touches(base, slot));
    const free = touching.filter((slot) => !owned.has(slot));
    const owner = ownerAmong(free, base);
    if (owner === undefined) demotions.push(omission(base));
    else owned.set(owner, base);
    for (const slot of touching.filter((one) => !one.guarded)) {
      const how = slot === owner ? 'lowered' : 'claimed';
      demotions.push({ slot: base.name, how, because: because(base, slot) });
    }
  }
  const present = config.map((slot) => keeping(slot, owned.get(slot), baseline));
  const kept = [...owned.values()];
  const omitted = baseline.filter((slot) => slot.guarded && !kept.includes(slot));
  const names = new Set([...present, ...omitted].map(({ name }) => name));
  const standing = omitted.map((slot) => ({ ...slot, promotes_to: slot.promotes_to.filter((to) => names.has(to)) }));
  return { slots: [...present, ...standing], demotions };
}

/** Whether a slot of the configuration has any identity that means the guarded slot of the baseline. */
function touches(base: Slot, slot: Slot): boolean {
  const texts = new Set(identitiesOf(base).map(({ text }) => text));
  return (
    identitiesOf(slot).some(({ text }) => texts.has(text)) ||
    basesOf(slot).some((one) => basesOf(base).some((other) => isOf(other, one)))
  );
}

/**
 * The entry that stands for the baseline's slot: by name, else by namespace, else by any identity, a guarded one
 * first.
 */
const ownerAmong = (candidates: readonly Slot[], base: Slot): Slot | undefined =>
  candidates.find(({ name }) => name === base.name) ??
  candidates.find(({ namespace }) => namespace === base.namespace) ??
  candidates.find(({ guarded }) => guarded) ??
  candidates[0];

const omission = ({ name }: Slot): Demotion => ({ slot: name, how: 'omitted', because: `${name} is left out.` });

/** The configuration's slot with everything that the baseline's guarded slot is known by; others without any of it. */
function keeping(slot: Slot, base: Slot | undefined, baseline: readonly Slot[]): Slot {
  if (base === undefined) return slot.guarded ? slot : withoutClaims(slot, baseline);
  const own = [slot.name, slot.namespace];
  const aliases = basesOf(base).filter((text) => !own.includes(text));
  return {
    ...slot,
    role: slot.guarded ? slot.role : base.role,
    guarded: true,
    hosts: [...new Set([...slot.hosts, ...base.hosts])],
    ...(aliases.length === 0 ? {} : { aliases }),
  };
}

/** An unguarded slot does not get a host that is a guarded one's. Names are left to clash, and are refused. */
function withoutClaims(slot: Slot, baseline: readonly Slot[]): Slot {
  const taken = new Set(
    baseline.filter(({ guarded }) => guarded).flatMap((base) => identitiesOf(base).map(({ text }) => text)),
  );
  return { ...slot, hosts: slot.hosts.filter((host) => !taken.has(host)) };
}

function because(base: Slot, slot: Slot): string {
  const where = slot.declaredAt === undefined ? '' : ` at ${slot.declaredAt.file}:${slot.declaredAt.line}`;
  const shared = identitiesOf(base).find(({ text }) => identitiesOf(slot).some((own) => own.text === text));
  return `${slot.name}${where} is not guarded and has ${shared?.text ?? 'the name of a generation'} of ${base.name}.`;
}
