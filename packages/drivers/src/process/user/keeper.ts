import type { LeasePort } from '@idunn/authority';
import { type Evidence, type Outcome, ok } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import { closeState, letRead, openState } from './door.ts';
import type { RunsAs } from './words.ts';

/** Whom one activation's state is opened to. */
export interface Opening {
  readonly activation: string;
  readonly state: StateContract;
  readonly runs: RunsAs;
}

/** Whom the row names; `unknown` where it cannot be read. */
export type Holder = Evidence<string | null>;

/**
 * Opens and closes states, one step at a time for each state. The lease row says to whom: nothing else is remembered,
 * so that a crash between the row and the files leaves them with root, and a repeat puts them right.
 */
export class StateKeeper {
  readonly #lease: Pick<LeasePort, 'read'>;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(lease: Pick<LeasePort, 'read'>) {
    this.#lease = lease;
  }

  /** For whom the row names: called once it does. */
  open({ state, runs }: Opening): Promise<Outcome<'open'>> {
    return this.#inTurn(state, () => openState(state, runs));
  }

  /** Before a program starts: nobody may write whose activation the row does not name (I1). */
  async settle({ state, runs }: Opening, lives: (activation: string) => Promise<boolean>): Promise<Outcome<'settled'>> {
    return this.#inTurn(state, async () => {
      const holder = await this.#holder(state);
      const held = holder.kind === 'seen' && holder.value !== null && (await lives(holder.value));
      const done = held ? await letRead(state, runs) : await closeState(state, runs);
      return done.ok ? ok('settled') : done;
    });
  }

  /** Once an activation is gone: its state closes, unless it is somebody else's by now. */
  end({ activation, state, runs }: Opening): Promise<Outcome<'closed' | 'kept'>> {
    return this.#inTurn(state, async () => {
      const holder = await this.#holder(state);
      const others = holder.kind === 'seen' && holder.value !== null && holder.value !== activation;
      return others ? ok('kept') : closeState(state, runs);
    });
  }

  async #holder(state: StateContract): Promise<Holder> {
    const rows = await this.#lease.read(state);
    if (rows.kind !== 'seen') return rows;
    const names = new Set(Object.values(rows.value).map(({ activation }) => activation));
    const [first = null] = names;
    // A handover that is torn between several stores names nobody.
    return { kind: 'seen', value: names.size === 1 ? first : null };
  }

  async #inTurn<T>({ stateId }: StateContract, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(stateId) ?? Promise.resolve();
    const turn = before.then(act);
    const settled = turn.catch(() => {});
    this.#turns.set(stateId, settled);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(stateId) === settled) this.#turns.delete(stateId);
    }
  }
}
