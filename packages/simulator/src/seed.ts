/** A seeded stream of numbers in [0, 1): the same seed replays the same run (mulberry32, public domain). */
export interface Dice {
  roll(): number;
  /** True with probability `chance`. */
  hits(chance: number): boolean;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
}

export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    roll,
    hits: (chance) => roll() < chance,
    between: (from, to) => from + Math.floor(roll() * (to - from + 1)),
    pick: (items) => {
      const picked = items[Math.floor(roll() * items.length)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
  };
}
