import type { World } from '../world/world.ts';

/**
 * What an effect may meet. `lost`: it is done, and the answer does not come back; `late`: the answer comes when others
 * have overtaken it; `doubled`: it is carried out twice.
 */
export type Fate = 'go' | 'die-before' | 'die-after' | 'lost' | 'late' | 'doubled';

const LATE_MS = 300;

/** One life of the engine. When it has died its calls are never answered and its timers never fire. */
export class Life {
  readonly #world: World;
  readonly #fate: (name: string) => Fate;
  readonly #onDeath: (at: string) => void;
  alive = true;

  constructor(world: World, fate: (name: string) => Fate, onDeath: (at: string) => void) {
    this.#world = world;
    this.#fate = fate;
    this.#onDeath = onDeath;
  }

  die(at: string): void {
    if (!this.alive) return;
    this.alive = false;
    this.#onDeath(at);
  }

  /** An effect: crash points before and after it, a latency, and perhaps a lost answer. */
  async effect<T>(name: string, work: () => T): Promise<T> {
    if (!this.alive) return silence();
    const fate = this.#fate(name);
    if (fate === 'die-before') {
      this.die(`before ${name}`);
      return silence();
    }
    await this.#world.time.sleep(this.#world.dice.between(0, 2));
    if (!this.alive) return silence();
    this.#world.pace.stir();
    const first = work();
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

  /** A callback into the engine. */
  deliver(work: () => void): void {
    if (this.alive) work();
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
