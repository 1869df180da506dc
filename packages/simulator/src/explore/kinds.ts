import type { decide, decideContinuity } from '@idunn/authority';
import type { Plan } from '@idunn/release';
import type { Behaviour } from '../world/behaviour.ts';
import { planFor, refOf, type TargetShape } from '../world/sources.ts';
import type { Budget } from './state.ts';

/** The one target of an exploration. */
export const TARGET = 'app';

/** What the refs of the target are compiled to. */
export interface Sources {
  readonly plans: ReadonlyMap<string, Plan>;
}

/** One small world to explore: a target, who serves, who is to come, and what may go wrong. */
export interface Small {
  readonly name: string;
  readonly shape: TargetShape;
  /** How the build behaves that serves; `null` for a first deployment. */
  readonly incumbent: Behaviour | null;
  /** How the build behaves that is deployed; `null` where nothing is asked for. */
  readonly candidate: Behaviour | null;
  readonly budget: Budget;
  /** Whose programs may die: with an incumbent that does, its restart goes on beside the deployment. */
  readonly mortal: 'anyone' | 'candidate';
  /** Programs, observer and effects go on between two writes of the engine too; otherwise only what goes wrong does. */
  readonly fine: boolean;
  readonly decide?: typeof decide | undefined;
  readonly decideContinuity?: typeof decideContinuity | undefined;
}

export const refs = ({ incumbent, candidate }: Small): readonly [incumbent: string, candidate: string] => [
  refOf(incumbent ?? 'good', 1),
  refOf(candidate ?? 'good', 2),
];

export const sourcesOf = (small: Small): Sources => ({
  plans: new Map(refs(small).map((ref) => [ref, planFor(TARGET, ref, small.shape, 'events-v1')])),
});

export const CALM: Budget = { crash: 0, death: 0, freeze: 0, late: 0, miss: 0 };

/** Every kind of target that takes over from another in a way of its own. */
export const SHAPES = {
  'stateful, routed': { stores: 1, routed: true },
  'behind a gate': { stores: 1, routed: true, attended: true },
  'stop-then-start': { stores: 1, routed: true, alone: true },
  'stateless, routed': { stores: 0, routed: true },
  'stateful, without a route': { stores: 1, routed: false },
} as const satisfies Record<string, TargetShape>;

/** A deployment of a good build over a good one. */
export const deployment = (shape: keyof typeof SHAPES, wrong: Partial<Budget>, more: Partial<Small> = {}): Small => ({
  name: `${shape}: ${toldOf(wrong)}${more.mortal === undefined ? '' : ` of the ${more.mortal}`}`,
  shape: SHAPES[shape],
  incumbent: 'good',
  candidate: 'good',
  budget: { ...CALM, ...wrong },
  mortal: 'anyone',
  fine: false,
  ...more,
});

/** Nothing is asked for, and what serves may die. */
export const restart = (shape: keyof typeof SHAPES, wrong: Partial<Budget>): Small => ({
  ...deployment(shape, wrong, { candidate: null }),
  name: `${shape}, served: ${toldOf(wrong)}`,
});

const toldOf = (wrong: Partial<Budget>): string =>
  Object.entries(wrong)
    .map(([of, times]) => `${times} ${of}`)
    .join(', ') || 'nothing goes wrong';
