import type { Violation } from '../checkers/judged.ts';
import { beginning } from './beginning.ts';
import { broken, settled } from './checks.ts';
import type { Small } from './kinds.ts';
import { type Move, Moves } from './moves.ts';
import { type Sealed, type State, seal } from './state.ts';

/** What was found wrong, and how it came about. */
export interface Finding extends Violation {
  readonly course: readonly string[];
}

export interface Exploration {
  readonly name: string;
  readonly states: number;
  readonly transitions: number;
  /** Steps on the shortest way to the state that is farthest away. */
  readonly depth: number;
  readonly settled: number;
  readonly phases: readonly string[];
  readonly outcomes: readonly string[];
  /** Whether no state was left when it ended. */
  readonly whole: boolean;
  readonly findings: readonly Finding[];
}

export interface Bounds {
  /** States after which it gives up. */
  readonly states?: number;
  /** How often, among states that were met again, one is gone on from once more, to see that it goes on alike. */
  readonly verifyEvery?: number;
}

/** Findings after which there is no more to learn. */
const FINDINGS_LIMIT = 5;

/** Every state of a small world, breadth first, until none is left; then whether each of them can still settle. */
export async function explore(
  small: Small,
  { states = 5_000_000, verifyEvery = 0 }: Bounds = {},
): Promise<Exploration> {
  const graph = new Graph(small);
  await graph.run(states, verifyEvery);
  return graph.told();
}

/** A state that is stored, and how it was come to. */
interface Node {
  readonly from: number;
  readonly by: string;
  /** States that follow without anything going wrong. */
  readonly calm: number[];
  readonly isSettled: boolean;
}

class Graph {
  readonly #small: Small;
  readonly #moves: Moves;
  readonly #numbers = new Map<string, number>();
  readonly #nodes: Node[] = [];
  #level: { readonly at: number; readonly sealed: Sealed }[] = [];
  #next: { readonly at: number; readonly sealed: Sealed }[] = [];
  #transitions = 0;
  #depth = 0;
  #again = 0;
  readonly #phases = new Set<string>();
  readonly #outcomes = new Set<string>();
  readonly #findings: Finding[] = [];

  constructor(small: Small) {
    this.#small = small;
    this.#moves = new Moves(small);
  }

  async run(statesLimit: number, verifyEvery: number): Promise<void> {
    this.#number(await beginning(this.#small), -1, 'it begins');
    while (this.#next.length > 0 && this.#nodes.length < statesLimit && this.#findings.length < FINDINGS_LIMIT) {
      this.#level = this.#next;
      this.#next = [];
      for (const { at, sealed } of this.#level) await this.#expand(at, sealed, verifyEvery);
      this.#depth += 1;
    }
    if (this.#next.length === 0 && this.#findings.length === 0) this.#liveness();
  }

  told(): Exploration {
    return {
      name: this.#small.name,
      states: this.#nodes.length,
      transitions: this.#transitions,
      depth: this.#depth,
      settled: this.#nodes.filter(({ isSettled }) => isSettled).length,
      phases: [...this.#phases],
      outcomes: [...this.#outcomes].sort(),
      whole: this.#next.length === 0,
      findings: this.#findings,
    };
  }

  async #expand(at: number, sealed: Sealed, verifyEvery: number): Promise<void> {
    for (const { to, by, isFault } of await this.#stepsFrom(sealed, at)) {
      const known = this.#numbers.get(to.print);
      const number = known ?? this.#number(to, at, by);
      if (!isFault) this.#nodes[at]?.calm.push(number);
      if (known === undefined || verifyEvery === 0 || known >= at) continue;
      this.#again += 1;
      if (this.#again % verifyEvery === 0) await this.#verify(known, to);
    }
  }

  /** Whether a state that was met again goes on as it did the first time. */
  async #verify(known: number, again: Sealed): Promise<void> {
    const first = new Set(this.#nodes[known]?.calm);
    const then = (await this.#stepsFrom(again, known)).filter(({ isFault }) => !isFault);
    const odd = then.find(({ to }) => !first.has(this.#numbers.get(to.print) ?? -1));
    if (odd !== undefined)
      this.#find(known, odd.by, { of: 'fault', atMs: 0, detail: 'it goes on otherwise than before' });
  }

  /**
   * Every way to the states that follow. What the engine has not decided about yet is gone through on the way: with
   * its decision, and whatever may come between.
   */
  async #stepsFrom(sealed: Sealed, at: number): Promise<readonly { to: Sealed; by: string; isFault: boolean }[]> {
    const found = [];
    const between = new Map<string, boolean>();
    const open = [{ sealed, by: '', isFault: false }];
    for (let here = open.pop(); here !== undefined; here = open.pop()) {
      for (const move of await this.#moves.of(here.sealed)) {
        const by = here.by === '' ? move.name : `${here.by}; ${move.name}`;
        this.#look(at, here.sealed.state, move, by);
        const step = { sealed: seal(move.to), by, isFault: here.isFault || move.isFault };
        const { print, state } = step.sealed;
        if (state.memory?.due !== true || (state.about === null && this.#small.fine)) {
          found.push({ ...step, to: step.sealed });
          continue;
        }
        // A way on which nothing goes wrong counts for more than one on which something does.
        if (between.get(print) === false || between.get(print) === step.isFault) continue;
        between.set(print, step.isFault);
        open.push(step);
      }
    }
    return found;
  }

  #look(at: number, from: State, move: Move, by: string): void {
    this.#transitions += 1;
    for (const event of move.told) {
      if (event.event === 'phase') this.#phases.add(event.phase);
      if (event.event === 'outcome')
        this.#outcomes.add(`${event.outcome}${event.refusal === null ? '' : `: ${event.refusal.code}`}`);
    }
    for (const violation of broken(this.#small, from, move)) this.#find(at, by, violation);
  }

  #number(sealed: Sealed, from: number, by: string): number {
    const number = this.#nodes.length;
    this.#numbers.set(sealed.print, number);
    this.#nodes.push({ from, by, calm: [], isSettled: settled(this.#small, sealed.state) });
    this.#next.push({ at: number, sealed });
    return number;
  }

  /** Once nothing goes wrong any more, from every state there is a way to one in which nothing is left to be done. */
  #liveness(): void {
    const before: number[][] = this.#nodes.map(() => []);
    this.#nodes.forEach(({ calm }, at) => calm.forEach((to) => before[to]?.push(at)));
    const reached = new Set<number>();
    const open = this.#nodes.flatMap(({ isSettled }, at) => (isSettled ? [at] : []));
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (reached.has(at)) continue;
      reached.add(at);
      open.push(...(before[at] ?? []));
    }
    const stuck = this.#nodes.findIndex((_, at) => !reached.has(at));
    if (stuck < 0) return;
    const many = this.#nodes.length - reached.size;
    this.#find(stuck, '', {
      of: 'ends',
      atMs: 0,
      detail: `from here, and from ${many} states in all, nothing settles`,
    });
  }

  #find(at: number, by: string, violation: Violation): void {
    const course = by === '' ? [] : [by];
    for (let number = at; number >= 0; number = this.#nodes[number]?.from ?? -1)
      course.unshift(this.#nodes[number]?.by ?? '');
    this.#findings.push({ ...violation, course });
  }
}
