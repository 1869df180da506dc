import type { Moment } from '@idunn/kernel';
import type { Wait } from '../decisions/decision.ts';
import { type Answered, type Effect, isLong } from '../decisions/effects.ts';
import type { DeployEvidence, Marks, Slot } from '../decisions/evidence.ts';
import type { TransactionRecord } from '../records/transaction.ts';

/** Answers that one lane remembers; each names its activation or epoch, the oldest are dropped beyond it. */
const ANSWERS_LIMIT = 512;

/** What was read while nothing put it in doubt. */
export type Readings = Pick<DeployEvidence, 'rows' | 'route' | 'claim' | 'consent' | 'holder' | 'others'> & {
  readonly processes: Readonly<Record<string, Pick<Slot, 'found' | 'process'>>>;
};

/** An effect that is being carried out. */
export interface Begun {
  readonly effect: Effect;
  readonly long: boolean;
  readonly abort: AbortController;
}

export const begun = (effect: Effect): Begun => ({ effect, long: isLong(effect.kind), abort: new AbortController() });

/** What a lane knows beside its record, as plain values; a crash takes it. */
export interface LaneMemory {
  readonly answers: readonly (readonly [string, Answered])[];
  readonly reached: Readonly<Record<string, number>>;
  readonly receipts: Marks['receipts'];
  /** Effects that are under way, by their keys. */
  readonly running: readonly (readonly [string, Effect])[];
  readonly readings: Readings | null;
  readonly readAtMs: number;
  readonly waiting: Lane['waiting'];
}

/** One transaction at work in this process. Everything but the record is memory that a crash may take. */
export class Lane {
  tx: TransactionRecord;
  generation: number;
  readonly answers = new Map<string, Answered>();
  /** The same answers as a decision is shown them; it only looks at them, and keeps nothing. */
  readonly shown: Record<string, Answered> = {};
  readonly reached: Record<string, number> = {};
  #receipts: Marks['receipts'] = {};
  /** What is being done, by the keys of the effects. */
  readonly running = new Map<string, Begun>();
  readings: Readings | null = null;
  readAtMs = 0;
  /** How often what was read was put in doubt: readings that began before the last time are not kept. */
  doubts = 0;
  waiting: { readonly wait: Wait; readonly since: Moment } | null = null;
  cancelTimer: (() => void) | null = null;

  constructor(tx: TransactionRecord, generation: number) {
    this.tx = tx;
    this.generation = generation;
  }

  get memory(): LaneMemory {
    const { readings, readAtMs, waiting } = this;
    return {
      answers: [...this.answers],
      reached: { ...this.reached },
      receipts: this.#receipts,
      running: [...this.running].map(([key, { effect }]) => [key, effect]),
      readings,
      readAtMs,
      waiting,
    };
  }

  /** Goes on from what was known at a moment, with the same effects under way. */
  recall(memory: LaneMemory): void {
    for (const [key, answered] of memory.answers) this.remember(key, answered);
    Object.assign(this.reached, memory.reached);
    this.#receipts = memory.receipts;
    for (const [key, effect] of memory.running) this.running.set(key, begun(effect));
    this.readings = memory.readings;
    this.readAtMs = memory.readAtMs;
    this.waiting = memory.waiting;
  }

  remember(key: string, answered: Answered): void {
    this.answers.delete(key);
    this.answers.set(key, answered);
    this.shown[key] = answered;
    const oldest = this.answers.keys().next();
    if (this.answers.size > ANSWERS_LIMIT && oldest.done !== true) this.#forget(oldest.value);
  }

  #forget(key: string): void {
    this.answers.delete(key);
    delete this.shown[key];
  }

  /** Forgets what was said on a lease connection that has closed: it is opened and granted anew. */
  forgetChannel(activation: string): void {
    for (const key of this.answers.keys()) {
      if (key === `open-channel ${activation}` || key.startsWith(`grant ${activation} `)) this.#forget(key);
    }
  }

  /** What was refused because somebody could not be reached is asked again at once when they are back. */
  forgetRefusals(): void {
    for (const [key, { outcome }] of this.answers) if (!outcome.ok) this.#forget(key);
  }

  /** Something may have changed that is not read every time. */
  doubt(): void {
    this.readings = null;
    this.doubts += 1;
  }

  /** Something is being done that no decision may overtake. */
  get busy(): boolean {
    for (const { long } of this.running.values()) if (!long) return true;
    return false;
  }

  /** Gives up what decisions may overtake; what comes of it is not listened to. */
  abandonLong(): void {
    for (const [key, { long, abort }] of this.running) {
      if (!long) continue;
      abort.abort();
      this.running.delete(key);
    }
  }

  abort(): void {
    for (const { abort } of this.running.values()) abort.abort();
    this.clearTimer();
  }

  marks(firstWrites: Marks['firstWrites']): Marks {
    return { reached: this.reached, firstWrites, receipts: this.#receipts };
  }

  /** What the observer said last of each activation stands for as long as it cannot be asked (I4). */
  hear(slots: Readonly<Record<string, Slot>>): void {
    const receipts: Record<string, Marks['receipts'][string]> = {};
    for (const [activation, { word }] of Object.entries(slots)) {
      const said = word.kind === 'seen' ? word.value.ready : null;
      const ready = word.kind === 'unknown' ? this.#receipts[activation] : said;
      if (ready?.activation === activation) receipts[activation] = ready;
    }
    this.#receipts = receipts;
  }

  clearTimer(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
  }
}
