import type { World } from '../world/world.ts';
import type { Lie, Lies } from './lies.ts';

/**
 * What an effect may meet. `lost`: it is done, and the answer does not come back; `late`: the answer comes when others
 * have overtaken it; `doubled`: it is carried out twice; `overtaken`: what is asked later is carried out before it, and
 * its answer is lost. Otherwise it is answered falsely.
 */
export type Fate = 'go' | 'die-before' | 'die-after' | 'lost' | 'late' | 'doubled' | 'overtaken' | Lie;

/** What an effect may meet beside what every one may. */
export interface Prospects {
  readonly lies: readonly Lie[];
  /** It travels to another process, and may arrive after its caller has gone on or has died. */
  readonly far: boolean;
}

/** Decides what each effect and each reading of a life meets. */
interface Fortunes {
  fate(name: string, prospects: Prospects): Fate;
  garbles(): boolean;
}

interface Manner<T> {
  readonly lies?: Lies<T>;
  readonly far?: boolean;
}

const LATE_MS = 300;

/** One life of the engine. When it has died its calls are never answered and its timers never fire. */
export class Life {
  readonly #world: World;
  readonly #fortunes: Fortunes;
  readonly #onDeath: (at: string) => void;
  alive = true;

  constructor(world: World, fortunes: Fortunes, onDeath: (at: string) => void) {
    this.#world = world;
    this.#fortunes = fortunes;
    this.#onDeath = onDeath;
  }

  die(at: string): void {
    if (!this.alive) return;
    this.alive = false;
    this.#onDeath(at);
  }

  /** An effect: crash points before and after it, a latency, and perhaps a lost or false answer. */
  async effect<T>(name: string, work: () => T, { lies = {}, far = false }: Manner<T> = {}): Promise<T> {
    if (!this.alive) return silence();
    const fate = this.#fortunes.fate(name, { lies: Object.keys(lies) as Lie[], far });
    if (fate === 'die-before') {
      this.die(`before ${name}`);
      return silence();
    }
    await this.#world.time.sleep(this.#world.dice.between(0, 2));
    if (!this.alive) return silence();
    this.#world.pace.stir();
    if (fate === 'overtaken') {
      const { bootId } = this.#world.time;
      // It is on its way to a process of this machine, and goes down with that.
      this.#world.time.after(LATE_MS, () => void (bootId === this.#world.time.bootId && work()));
      throw new LostAnswer(name);
    }
    if (fate === 'claimed' && lies.claimed !== undefined) return lies.claimed();
    const first = work();
    if (fate === 'denied' && lies.denied !== undefined) return lies.denied();
    if (fate === 'garbled' && lies.garbled !== undefined) return lies.garbled();
    const answer = fate === 'doubled' ? work() : first;
    if (fate === 'late') {
      await this.#world.time.sleep(LATE_MS);
      if (!this.alive) return silence();
    }
    if (fate === 'die-after') {
      this.die(`after ${name}`);
      return silence();
    }
    if (fate === 'lost') throw new LostAnswer(name);
    return answer;
  }

  /** A reading: latency, no consequence. */
  async read<T>(work: () => T): Promise<T> {
    if (!this.alive) return silence();
    await this.#world.time.sleep(this.#world.dice.hits(0.5) ? 0 : 1);
    return this.alive ? work() : silence();
  }

  /** Waits within an effect that goes on for a while. */
  async wait(ms: number): Promise<void> {
    await this.#world.time.sleep(ms);
    if (!this.alive) return silence();
  }

  /** A reading that may tell of something else than what was asked about. */
  look<T>(work: () => T, garbled: (seen: T) => T): Promise<T> {
    return this.read(() => (this.#fortunes.garbles() ? garbled(work()) : work()));
  }

  /** A callback into the engine. */
  deliver(work: () => void): void {
    if (!this.alive) return;
    this.#world.time.stir();
    work();
  }
}

/** An effect that happened and did not answer. */
export class LostAnswer extends Error {
  readonly effect: string;
  constructor(effect: string) {
    super(`the answer of ${effect} was lost`);
    this.effect = effect;
  }
}

/** The exact model of a call that a crash cut off. */
export const silence = (): Promise<never> => new Promise(() => undefined);
