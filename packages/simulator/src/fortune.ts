import type { WriteFate } from './fake-store.ts';
import { befall, type Fates } from './misfortune.ts';
import type { Fate, Prospects } from './ports/life.ts';
import type { Scenario } from './scenario.ts';
import type { Dice } from './seed.ts';
import type { FaultName } from './strikes.ts';

const FATES: Partial<Record<FaultName, Fate>> = {
  'answer-lost': 'lost',
  'answer-late': 'late',
  'effect-doubled': 'doubled',
  'effect-overtaken': 'overtaken',
  'effect-claimed': 'claimed',
  'effect-denied': 'denied',
  'reading-garbled': 'garbled',
};

/** What each effect and each durable write meets: by point, by strike, or by the chances of the scenario. */
export class Fortune {
  readonly #scenario: Scenario;
  readonly #dice: Dice;
  readonly #fates: Fates;
  /** Crash points that were passed: one before and one after each effect and durable write. */
  points = 0;
  crashes = 0;
  /** What effects and durable writes met, in order. */
  readonly met: string[] = [];
  /** What the next effect or durable write is to meet. */
  next: FaultName | null = null;
  /** The phase that was last told of. */
  phase: string | null = null;
  struckIn: string | null = null;

  constructor(scenario: Scenario, dice: Dice, fates: Fates) {
    this.#scenario = scenario;
    this.#dice = dice;
    this.#fates = fates;
  }

  beforeWrite(): WriteFate {
    return this.#meeting('write-', this.#dies('before a durable write') ? 'die' : this.#uncertain());
  }

  afterWrite(): Exclude<WriteFate, 'full'> {
    const fate = this.#dies('after a durable write') ? 'die' : this.#uncertain();
    return this.#meeting('write-', fate === 'full' ? 'go' : fate);
  }

  fate(name: string, prospects: Prospects): Fate {
    return this.#meeting('effect-', this.#fated(name, prospects));
  }

  #meeting<F extends string>(what: string, fate: F): F {
    if (fate !== 'go') this.met.push(`${what}${fate}`);
    return fate;
  }

  #fated(name: string, prospects: Prospects): Fate {
    if (this.#dies(`before ${name}`)) return 'die-before';
    const { lostChance, lateChance = 0, doubledChance = 0 } = this.#scenario;
    const next = this.next === null ? undefined : FATES[this.next];
    if (next !== undefined && fits(next, prospects)) {
      this.next = null;
      return next;
    }
    if (lostChance > 0 && this.#dice.hits(lostChance)) return 'lost';
    if (lateChance > 0 && this.#dice.hits(lateChance)) return 'late';
    if (doubledChance > 0 && this.#dice.hits(doubledChance)) return 'doubled';
    const odd = this.#odd(prospects);
    if (odd !== null) return odd;
    this.points += 1;
    return this.#befalls() || this.points === this.#scenario.crashAt ? 'die-after' : 'go';
  }

  /** Whether a reading that can tells of something else than what was asked about. */
  garbles(): boolean {
    if (this.next === 'reading-garbled') {
      this.next = null;
      return true;
    }
    const { wrongChance = 0 } = this.#scenario;
    return wrongChance > 0 && this.#dice.hits(wrongChance);
  }

  #odd({ lies, far }: Prospects): Fate | null {
    const { wrongChance = 0, overtakenChance = 0 } = this.#scenario;
    if (far && overtakenChance > 0 && this.#dice.hits(overtakenChance)) return 'overtaken';
    if (lies.length > 0 && wrongChance > 0 && this.#dice.hits(wrongChance)) return this.#dice.pick(lies);
    return null;
  }

  #dies(at: string): boolean {
    this.points += 1;
    if (this.#befalls()) return true;
    const scheduled = this.points === this.#scenario.crashAt;
    const rolled = this.crashes < 4 && this.#scenario.crashChance > 0 && this.#dice.hits(this.#scenario.crashChance);
    if (!scheduled && !rolled) return false;
    this.#fates.crash(at);
    return true;
  }

  #uncertain(): WriteFate {
    if (this.next === 'write-unknown' || this.next === 'disk-full') {
      const fate = this.next === 'disk-full' ? 'full' : 'unknown';
      this.next = null;
      return fate;
    }
    const { uncertainChance, fullChance = 0 } = this.#scenario;
    if (fullChance > 0 && this.#dice.hits(fullChance)) return 'full';
    return uncertainChance > 0 && this.#dice.hits(uncertainChance) ? 'unknown' : 'go';
  }

  /** What the scenario has for this point befalls the world; answers whether the engine dies of it. */
  #befalls(): boolean {
    const { misfortune, meets } = this.#scenario;
    if (meets?.at === this.points) this.next = meets.fault;
    if (misfortune?.at !== this.points) return false;
    this.struckIn = this.phase;
    return befall(this.#fates, misfortune.what);
  }
}

/** Whether an effect with these prospects may meet the fate. */
function fits(fate: Fate, { lies, far }: Prospects): boolean {
  if (fate === 'claimed' || fate === 'denied' || fate === 'garbled') return lies.includes(fate);
  return fate !== 'overtaken' || far;
}
