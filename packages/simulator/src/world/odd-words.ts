import type { Process } from './process.ts';
import { say } from './say.ts';
import type { World } from './world.ts';

/** Between two changes of a program that flaps, and how long an old word stands as the newest of its connection. */
const FLAP_MS = 6;
const REPLAY_MS = 25;

/** It changes its mind: from where it stands to other states and back, none of which it may gain anything by. */
export function flap(world: World, process: Process): void {
  const { state } = process;
  if (state === null || state === 'failed') return;
  const steps =
    state === 'active' ? (['warming', 'degraded', 'warming', state] as const) : (['degraded', state] as const);
  // It may become what it was to become meanwhile: then it stays so.
  let over = false;
  steps.forEach((next, index) =>
    world.time.after(FLAP_MS * (index + 1), () => {
      over ||= state !== 'active' && process.state === 'active';
      if (!over) say(world, process, next);
    }),
  );
}

/**
 * Its connection repeats an old word: its own of an earlier sequence or epoch, or one of another launch of the target.
 * The real channel drops them, and so does the observer; whoever decides must not rely on that (I5).
 */
export function replay(world: World, process: Process): void {
  const others = [...world.processes.values()].filter(
    (other) => other !== process && other.activation.target === process.activation.target,
  );
  const words = [...process.past, ...others.flatMap(({ past }) => past.slice(-2))];
  if (!process.alive || words.length === 0) return;
  process.repeats = world.dice.pick(words);
  world.listeners.said(process);
  world.time.after(REPLAY_MS, () => {
    process.repeats = null;
    if (process.alive) world.listeners.said(process);
  });
}
