import type { Machine } from '../edge/machine.ts';
import type { Envelope } from '../words/envelope.ts';
import { type Speaker, signPresence, type Word } from './presence.ts';
import { repeatDelayMs } from './together.ts';

/** Takes a signed presence to somebody who wants it; drops it when nobody is there. */
export type PresenceSink = (presence: Envelope) => void;

/**
 * Speaks for the program: on every change, again and again, and anew to each who connects; its sequence only rises
 * (I5).
 */
export class Presenter {
  readonly #speaker: Speaker;
  readonly #everyMs: number;
  readonly #machine: Machine;
  readonly #sinks: PresenceSink[] = [];
  #word: Word | null = null;
  #sequence = 0;
  #stopTimer = (): void => {};

  constructor(speaker: Speaker, everyMs: number, machine: Machine) {
    this.#speaker = speaker;
    this.#everyMs = everyMs;
    this.#machine = machine;
  }

  /** The newest word; `null` before the first. */
  get word(): Word | null {
    return this.#word;
  }

  attach(sink: PresenceSink): void {
    this.#sinks.push(sink);
  }

  say(word: Word): void {
    this.#word = word;
    this.again();
  }

  /** The newest word with a fresh sequence, to everybody. */
  again(): void {
    if (this.#word === null) return;
    const presence = signPresence(this.#speaker, this.#word, ++this.#sequence);
    for (const sink of this.#sinks) sink(presence);
    this.#stopTimer();
    this.#stopTimer = this.#machine.after(repeatDelayMs(this.#machine.monotonicMs(), this.#everyMs), () => {
      this.again();
    });
  }

  stop(): void {
    this.#stopTimer();
    this.#word = null;
  }
}
