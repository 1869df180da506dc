import { EMPTY_HANDS } from './draft.ts';
import { CALM, refs, type Small } from './kinds.ts';
import { Moves } from './moves.ts';
import { type Sealed, type State, seal } from './state.ts';
import { EMPTY } from './world.ts';

/** Steps within which a calm world comes to rest. */
const STEPS_LIMIT = 400;
const MOMENT = 'a moment passes';

/** The state that an exploration begins in: the incumbent serves, and the deployment was asked for. */
export async function beginning(small: Small): Promise<Sealed> {
  const moves = new Moves({ ...small, decide: undefined, decideContinuity: undefined });
  const [incumbent, candidate] = refs(small);
  const empty: State = {
    nowMs: 1_000_000,
    records: new Map(),
    world: EMPTY,
    memory: null,
    hands: EMPTY_HANDS,
    about: null,
    budget: CALM,
  };
  const asked = async (at: State, ref: string): Promise<State> => moves.submit(seal(at), ref);
  const served = small.incumbent === null ? empty : await calm(moves, await asked(empty, incumbent));
  const begun = small.candidate === null ? served : await asked(served, candidate);
  return seal({ ...begun, budget: small.budget });
}

/** Nothing goes wrong, and whatever can happen does, until nothing more happens. */
async function calm(moves: Moves, from: State): Promise<State> {
  let at = seal(from);
  for (let steps = 0; steps < STEPS_LIMIT; steps += 1) {
    const all = await moves.of(at);
    const ordered = [...all.filter(({ name }) => name !== MOMENT), ...all.filter(({ name }) => name === MOMENT)];
    const next = ordered.map(({ to }) => seal(to)).find(({ print }) => print !== at.print);
    if (next === undefined) return at.state;
    at = next;
  }
  throw new Error('the world does not come to rest');
}
