import type { Correlation } from '@idunn/authority';
import type { IncarnationKey } from '@idunn/readiness';
import { LostAnswer, silence } from '../ports/life.ts';
import type { Deed } from '../world/ledger.ts';
import type { Records } from './records.ts';
import type { Program, SmallWorld } from './world.ts';

/** What an engine process holds open in the world; its death closes it. */
export interface Hands {
  readonly channels: readonly string[];
  readonly watched: readonly string[];
  /** Deaths that it will be told of. */
  readonly notices: readonly string[];
}

export const EMPTY_HANDS: Hands = { channels: [], watched: [], notices: [] };

/**
 * What becomes of the effects that an engine asks for. `asked`: nothing yet, it is under way; `lost`: done, and the
 * answer does not come back; `failed`: not done, and the driver says so.
 */
export type Fate = 'asked' | 'done' | 'lost' | 'failed';

/** A state on its way to the next one: what the ports of one step look at and change. */
export class Draft {
  world: SmallWorld;
  records: Records;
  hands: Hands;
  readonly nowMs: number;
  readonly fate: Fate;
  /** What happened in the world, in order. */
  readonly deeds: Deed[] = [];

  constructor(from: { world: SmallWorld; records: Records; hands: Hands; nowMs: number }, fate: Fate) {
    this.world = from.world;
    this.records = from.records;
    this.hands = from.hands;
    this.nowMs = from.nowMs;
    this.fate = fate;
  }

  /** An effect of the engine: it is under way, or this is the step in which it happens. */
  async effect<T>(name: string, work: () => T): Promise<T> {
    if (this.fate === 'asked') return silence();
    if (this.fate === 'failed') throw new LostAnswer(name);
    const answer = work();
    if (this.fate === 'lost') throw new LostAnswer(name);
    return answer;
  }

  change(change: Partial<SmallWorld>): void {
    this.world = { ...this.world, ...change };
  }

  program(id: string, change: Partial<Program>): void {
    const program = this.world.programs[id];
    if (program === undefined) throw new Error(`there is no program of ${id}`);
    this.change({ programs: { ...this.world.programs, [id]: { ...program, ...change } } });
  }

  /** The observer says how it sees an incarnation now, and signs Ready where it does. */
  observes(key: IncarnationKey, word: Correlation | null): void {
    const { [key]: _, ...words } = this.world.words;
    if (word === null) return this.change({ words });
    const projection = this.world.projections[key];
    if (projection !== undefined && word.ready !== projection.ready && word.ready !== null) {
      const { activation, epoch } = word.ready;
      this.deeds.push({ kind: 'ready', incarnation: key, activation, epoch });
      this.change({ projections: { ...this.world.projections, [key]: { ...projection, ready: word.ready } } });
    }
    this.change({ words: { ...words, [key]: word } });
  }

  /** A program ends; the engine hears of it later, if it watches it or is connected. */
  end(id: string, isAsked: boolean): void {
    const { hands } = this;
    this.program(id, { alive: false, relinquished: null });
    this.deeds.push({ kind: 'ended', activation: id, asked: isAsked });
    if (!hands.watched.includes(id) && !hands.channels.includes(id)) return;
    this.hands = { ...hands, notices: added(hands.notices, id) };
  }

  hold(hand: 'channels' | 'watched', id: string): void {
    this.hands = { ...this.hands, [hand]: added(this.hands[hand], id) };
  }

  letGo(id: string): void {
    const without = (ids: readonly string[]): readonly string[] => ids.filter((one) => one !== id);
    const { channels, watched, notices } = this.hands;
    this.hands = { channels: without(channels), watched, notices };
  }
}

export const added = (ids: readonly string[], id: string): readonly string[] =>
  ids.includes(id) ? ids : [...ids, id].sort();
