import type { Process } from './process.ts';
import type { World } from './world.ts';

/** How often a program, and what it has forked, writes of its own accord. */
export const WORK_EVERY_MS = 17;

/**
 * A program that forks leaves a child behind that goes on writing: the end of the process that was started ends nothing
 * of it, only the end of the whole tree does. It opens connections of its own, so that it compares the row where its
 * program does; what lies beside the rows, in a directory, it writes as it pleases.
 */
export function fork(world: World, process: Process): void {
  if (process.behaviour !== 'forks-a-writer' || process.child || !process.alive) return;
  process.child = true;
  world.ledger.note({ kind: 'forked', activation: process.id });
  childWrites(world, process);
}

function childWrites(world: World, process: Process): void {
  if (!process.child) return;
  const epoch = mayWriteUnder(world, process);
  if (epoch !== null) world.ledger.note({ kind: 'write', request: 0, activation: process.id, epoch });
  world.pace.after(WORK_EVERY_MS, () => childWrites(world, process));
}

function mayWriteUnder(world: World, process: Process): number | null {
  const compares = process.gate === 'none' && !process.besideRows;
  const named = world.namedIn(process.activation.target, process.gate === 'none' ? 'rows' : 'file');
  if (named?.activation === process.id) return named.epoch;
  return compares ? null : process.granted;
}
