import { type EngineEvent, type Memory, type Setting, type Step, Stepper } from '@idunn/authority';
import type { IncarnationKey } from '@idunn/readiness';
import type { Deed } from '../world/ledger.ts';
import { sealedFor } from '../world/sources.ts';
import { Draft, EMPTY_HANDS, type Fate } from './draft.ts';
import { aboutOf, isAlone, isOwn, type UnderWay, underWay } from './effects.ts';
import { refs, type Small, type Sources, sourcesOf, TARGET } from './kinds.ts';
import { readAnew } from './memory.ts';
import { plain } from './plain.ts';
import { smallPorts } from './ports.ts';
import { movesOf } from './programs.ts';
import type { Budget, Sealed, State } from './state.ts';
import { afterAMoment, atDeadline, atNextAttempt } from './time.ts';
import { correlationOf, type Program } from './world.ts';

/** One thing that may happen in a state, and what comes of it. */
export interface Move {
  readonly name: string;
  /** Something that goes wrong: it is paid for from the budget. */
  readonly isFault: boolean;
  readonly to: State;
  /** What it touches: a move of other things comes as well before it as after it. */
  readonly about: readonly string[];
  readonly deeds: readonly Deed[];
  readonly told: readonly EngineEvent[];
  readonly faults: readonly unknown[];
}

/** A step takes an instant, so that of two answers one is older. */
const INSTANT_MS = 1 / 1_024;

const options = { fleet: 'simulated', machine: 'local', observerTarget: null, targets: () => [TARGET] } as const;

/** One step of the engine at work, over a draft of the world. */
interface Stepping {
  readonly draft: Draft;
  readonly setting: Setting;
}

/** Everything that may happen next, in one small world. */
export class Moves {
  readonly #small: Small;
  readonly #sources: Sources;

  constructor(small: Small) {
    this.#small = small;
    this.#sources = sourcesOf(small);
  }

  /**
   * Of moves that touch nothing in common one order stands for all. So what nobody else has to do with comes first, and
   * between what happened and the decision about it comes only what touches the same.
   */
  async of(from: Sealed): Promise<readonly Move[]> {
    const { state } = from;
    const { memory } = state;
    if (memory === null) return [await this.#takesOver(from), ...this.#world(state)];
    if (memory.due && state.about === null && !this.#small.fine) {
      const strikes = this.#world(state).filter(({ isFault }) => isFault);
      return [await this.#decides(from, memory, 'decides'), ...dies(state), ...strikes];
    }
    const effects = underWay(state, memory);
    const first = effects.find(isAlone) ?? effects.find(isOwn);
    if (first !== undefined) {
      const about = isAlone(first) ? [] : aboutOf(state, first.key);
      const beside = this.#world(state).filter((move) => move.about.some((one) => about.includes(one)));
      return [...dies(state), ...isLate(state), ...(await this.#effect(from, memory, first)), ...beside];
    }
    const moves = [...dies(state), ...isLate(state)];
    const open = (about: readonly string[]): boolean =>
      !memory.due || state.about === null || about.some((one) => state.about?.includes(one));
    if (memory.due) moves.push(await this.#decides(from, memory, 'decides'));
    for (const effect of effects)
      if (open(aboutOf(state, effect.key))) moves.push(...(await this.#effect(from, memory, effect)));
    for (const id of state.hands.notices) if (open([id])) moves.push(await this.#hearsOf(from, memory, id));
    moves.push(...(await this.#time(from)));
    moves.push(...this.#world(state).filter(({ about }) => open(about)));
    return moves;
  }

  /** A command is taken in. */
  async submit(from: Sealed, ref: string): Promise<State> {
    const { draft, setting } = this.#stepping(from, 'asked');
    const asked = { kind: 'up', target: TARGET, ref, operationId: `op ${ref}`, actor: 'ada', tenant: 'local' } as const;
    const taken = await Stepper.submit(setting, asked);
    if (!taken.ok) throw new Error(taken.refusal.reason);
    const { memory } = from.state;
    return { ...from.state, records: draft.records, memory: memory === null ? null : { ...memory, due: true } };
  }

  #stepping({ state, unused }: Sealed, fate: Fate): Stepping {
    const draft = new Draft({ ...state, nowMs: state.nowMs + INSTANT_MS }, fate);
    const { decide, decideContinuity } = this.#small;
    const ports = smallPorts(draft, this.#sources, unused);
    return { draft, setting: { ports, options, target: TARGET, decide, decideContinuity } };
  }

  async #takesOver(from: Sealed): Promise<Move> {
    const { draft, setting } = this.#stepping(from, 'done');
    const step = await Stepper.takeOver(setting);
    return ended('an engine takes over', from.state, draft, null, step);
  }

  async #effect(from: Sealed, memory: Memory, { lane, key }: UnderWay): Promise<readonly Move[]> {
    const { budget } = from.state;
    const moves = [await this.#carriesOut(from, memory, lane, key, 'done')];
    if (budget.miss === 0) return moves;
    for (const fate of ['lost', 'failed'] as const) {
      const missed = await this.#carriesOut(from, memory, lane, key, fate);
      const to = { ...missed.to, budget: { ...budget, miss: budget.miss - 1 } };
      moves.push({ ...missed, name: `${key} is ${fate}`, isFault: true, to });
    }
    return moves;
  }

  async #decides(from: Sealed, memory: Memory, name: string): Promise<Move> {
    const { draft, setting } = this.#stepping(from, 'asked');
    return ended(name, from.state, draft, null, await Stepper.decide(setting, memory));
  }

  async #carriesOut(from: Sealed, memory: Memory, lane: string | null, key: string, fate: Fate): Promise<Move> {
    const { draft, setting } = this.#stepping(from, fate);
    return ended(key, from.state, draft, aboutOf(from.state, key), await Stepper.carryOut(setting, memory, lane, key));
  }

  async #hearsOf(from: Sealed, memory: Memory, id: string): Promise<Move> {
    const { draft, setting } = this.#stepping(from, 'asked');
    const without = (ids: readonly string[]): readonly string[] => ids.filter((one) => one !== id);
    const { channels, watched, notices } = draft.hands;
    draft.hands = { channels: without(channels), watched: without(watched), notices: without(notices) };
    return ended(`hears that ${id} died`, from.state, draft, [id], await Stepper.tellDeath(setting, memory, id));
  }

  /** Retries and further looks come due, or the next restart. */
  async #time(from: Sealed): Promise<readonly Move[]> {
    const { state } = from;
    const moves: Move[] = [];
    const moment = afterAMoment(state);
    if (moment?.memory) moves.push(await this.#decides({ ...from, state: moment }, moment.memory, 'a moment passes'));
    const attempt = atNextAttempt(state);
    if (attempt !== null) moves.push(plainly('the next restart is due', attempt));
    return moves;
  }

  #mayDie({ sealed }: Program): boolean {
    const [, candidate] = refs(this.#small);
    const plan = this.#sources.plans.get(candidate);
    return this.#small.mortal === 'anyone' || (plan !== undefined && sealedFor(plan).executableDigest === sealed);
  }

  #world(state: State): readonly Move[] {
    const { world, budget, memory } = state;
    const moves: Move[] = [];
    const changed = (name: string, about: readonly string[], change: (draft: Draft) => void): Move => {
      const draft = new Draft(state, 'done');
      change(draft);
      const to = { ...state, world: draft.world, hands: draft.hands, ...woken(state, about) };
      return { ...plainly(name, to, about), deeds: draft.deeds };
    };
    for (const [id, program] of Object.entries(world.programs)) {
      const about = [id, program.activation.incarnation];
      for (const { name, move } of movesOf(program)) moves.push(changed(`${id} ${name}`, [...about, 'rows'], move));
      if (!program.alive || budget.death === 0 || !this.#mayDie(program)) continue;
      const died = changed(`${id} dies`, about, (draft) => draft.end(id, false));
      const to = { ...died.to, memory, about: state.about };
      moves.push({ ...fault(died.name, to, 'death', about), deeds: died.deeds });
    }
    const keys = new Set([...Object.keys(world.projections), ...Object.keys(world.words)]) as Set<IncarnationKey>;
    for (const key of keys) {
      const word = correlationOf(world, key);
      if (plain(word, 0) === plain(world.words[key] ?? null, 0)) continue;
      moves.push(changed(`the observer looks at ${key.slice(0, 18)}`, [key], (draft) => draft.observes(key, word)));
    }
    const about = ['freeze'];
    if (world.frozen)
      moves.push(plainly('the freeze is cleared', { ...state, world: { ...world, frozen: false } }, about));
    else if (budget.freeze > 0) {
      moves.push(fault('a freeze is engaged', { ...state, world: { ...world, frozen: true } }, 'freeze', about));
    }
    return moves;
  }
}

const dies = (state: State): readonly Move[] =>
  state.budget.crash === 0
    ? []
    : [fault('Idunn dies', { ...state, memory: null, hands: EMPTY_HANDS, about: null }, 'crash', [])];

function isLate(state: State): readonly Move[] {
  const late = state.budget.late > 0 ? atDeadline(state) : null;
  return late === null ? [] : [fault('a deadline passes', late, 'late', [])];
}

/** The engine has something to decide about. */
function woken({ memory, about }: State, by: readonly string[] | null): Pick<State, 'memory' | 'about'> {
  if (memory === null) return { memory, about: null };
  if (!memory.due) return { memory: { ...memory, due: true }, about: by };
  return { memory, about: about === null || by === null ? null : [...new Set([...about, ...by])].sort() };
}

function ended(name: string, from: State, draft: Draft, about: readonly string[] | null, step: Step | null): Move {
  const { nowMs, records, world, hands, deeds } = draft;
  const memory = step === null ? null : readAnew(step.memory, records);
  const to = { nowMs, records, world, hands, memory, about: whatIsDue(from, about, memory), budget: from.budget };
  return { ...plainly(name, to, about ?? []), deeds, told: step?.told ?? [], faults: step?.faults ?? [] };
}

function whatIsDue({ memory, about }: State, by: readonly string[] | null, next: Memory | null): State['about'] {
  if (next === null || !next.due || by === null) return null;
  return memory?.due === true ? (about === null ? null : [...new Set([...about, ...by])].sort()) : by;
}

const plainly = (name: string, to: State, about: readonly string[] = []): Move => ({
  name,
  isFault: false,
  to,
  about,
  deeds: [],
  told: [],
  faults: [],
});

const fault = (name: string, state: State, of: keyof Budget, about: readonly string[]): Move => ({
  ...plainly(name, { ...state, budget: { ...state.budget, [of]: state.budget[of] - 1 } }, about),
  isFault: true,
});
