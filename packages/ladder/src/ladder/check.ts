import type { Code } from '@idunn/kernel';
import { isOf } from './generation-name.ts';
import { cycleIn } from './graph.ts';
import { basesOf, type Identity, identitiesOf } from './identity.ts';
import type { Slot } from './model.ts';

/** The way into the ladder document: keys and array indexes. */
export type Path = readonly (string | number)[];

/** One thing that is wrong between the fields of a ladder. */
export interface Problem {
  readonly code: Code;
  readonly path: Path;
  /** In one sentence, without a full stop. */
  readonly message: string;
  /** The other field that it disagrees with. */
  readonly related?: Path;
}

/** Everything that is ambiguous, unguarded or circular in a ladder, from as much of each slot as is valid. */
export function ladderProblems(slots: readonly Partial<Slot>[]): readonly Problem[] {
  return [...unguardedProduction(slots), ...ambiguities(slots), ...loseEdges(slots), ...circles(slots)];
}

/** Unguarded production is two declarations that cannot both be meant. */
function unguardedProduction(slots: readonly Partial<Slot>[]): readonly Problem[] {
  return slots.flatMap((slot, index) =>
    slot.role === 'production' && slot.guarded === false
      ? [
          {
            code: 'production-unguarded' as const,
            path: ['slots', index, 'guarded'],
            message: `${slot.name ?? 'this slot'} has the role production and is not guarded`,
            related: ['slots', index, 'role'],
          },
        ]
      : [],
  );
}

/** A text that means two slots, in any two of their fields. */
function ambiguities(slots: readonly Partial<Slot>[]): readonly Problem[] {
  const claims = slots.flatMap((slot, index) => identitiesOf(slot).map((identity) => ({ ...identity, slot: index })));
  const firstOf = new Map<string, (typeof claims)[number]>();
  const found = new Map<string, Problem>();
  const clash = (claim: Identity & { slot: number }, other: Identity & { slot: number }, how: string): void => {
    const path = pathOf(claim);
    const message = `${claim.text} ${how} ${slots[other.slot]?.name ?? 'another slot'}`;
    found.set(path.join('.'), { code: 'slot-ambiguous', path, message, related: pathOf(other) });
  };
  for (const claim of claims) {
    const first = firstOf.get(claim.text);
    if (first === undefined) firstOf.set(claim.text, claim);
    else if (first.slot !== claim.slot) clash(claim, first, `is ${FIELDS[first.field]}`);
  }
  for (const claim of claims.filter(({ field }) => field !== 'hosts')) {
    const owner = slots.findIndex(
      (slot, index) => index !== claim.slot && basesOf(slot).some((base) => isOf(base, claim.text)),
    );
    const name = { text: '', field: 'name', slot: owner } as const;
    if (owner >= 0) clash(claim, name, 'has the name of a generation of');
  }
  return [...found.values()];
}

const FIELDS = {
  name: 'already the name of',
  namespace: 'already the namespace of',
  hosts: 'already a host of',
  aliases: 'already an identity of',
} as const;

const pathOf = ({ slot, field, index }: Identity & { slot: number }): Path => [
  'slots',
  slot,
  field,
  ...(index === undefined ? [] : [index]),
];

function loseEdges(slots: readonly Partial<Slot>[]): readonly Problem[] {
  const names = slots.flatMap(({ name }) => name ?? []);
  return slots.flatMap(({ promotes_to: edges = [] }, index) =>
    edges.flatMap((to, at) =>
      names.includes(to)
        ? []
        : [
            {
              code: 'undefined-reference' as const,
              path: ['slots', index, 'promotes_to', at],
              message: `no slot is named ${to}; there are ${names.join(', ')}`,
            },
          ],
    ),
  );
}

function circles(slots: readonly Partial<Slot>[]): readonly Problem[] {
  const edges = new Map(slots.flatMap(({ name, promotes_to: to = [] }) => (name === undefined ? [] : [[name, to]])));
  const cycle = cycleIn(edges);
  if (cycle === null) return [];
  const index = slots.findIndex(({ name }) => name === cycle[0]);
  const message = `code would move in a circle: ${cycle.join(' → ')}`;
  return [{ code: 'ladder-cycle', path: ['slots', index, 'promotes_to'], message }];
}
