import type { Life } from '../ports/life.ts';
import { activate, besides, exitsNow, what, work } from './life.ts';
import { whenAwake } from './pause.ts';
import type { Process } from './process.ts';
import { say } from './say.ts';
import type { World } from './world.ts';

/** How long the driver waits for a launcher that it told of a grant, and between two looks at it. */
const GATE_MS = 10_000;
const LOOK_MS = 1;

/**
 * The launcher takes its place, and the attendant says so.
 *
 * The real one passes its gate in one way alone: it was told of a grant, and the lease row that it reads then names its
 * activation at that epoch. One that `passes-its-gate` is what a foreign hand has put in its place. It holds no state,
 * which is opened by the grant, so that the authority owes that it is seen and never granted anything (I2); that it
 * writes nothing is none of Idunn's doing.
 */
export function waitAtGate(world: World, process: Process): void {
  world.ledger.note({ kind: 'started', ...what(world, process) });
  const { behaviour } = process;
  world.time.after(world.dice.between(1, 10), () => {
    if (!process.alive) return;
    process.listening = true;
    say(world, process, 'warming');
    const later = (deed: () => void): void => void world.time.after(1, deed);
    if (behaviour === 'exits-at-its-gate') later(() => world.end(process, false));
    if (behaviour === 'passes-its-gate') later(() => pass(world, process));
  });
}

/** What came of a grant at the gate, as the driver answers it. */
export type Opening = 'open' | 'gone' | 'opened-otherwise' | 'stays-closed';

/** The driver tells the launcher of a grant, and answers once the program runs. */
export async function openGate(world: World, life: Life, process: Process, epoch: number): Promise<Opening> {
  world.ledger.note({ kind: 'granted', activation: process.id, epoch });
  const told = process.gate === 'waiting' ? knock(world, process, epoch) : null;
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    if (!process.alive) return 'gone';
    if (process.gate === 'passed') return process.granted === epoch ? 'open' : 'opened-otherwise';
    if (told?.refused === true || waitedMs >= GATE_MS) return 'stays-closed';
    await life.wait(LOOK_MS);
  }
}

/**
 * A grant reaches the launcher, which reads the row only then: whoever sent it, and whatever has become of the lease
 * meanwhile, the row decides (I1, I5). Before that, and from then to its program's first step, it may be kept for as
 * long as a stopped process is; nothing but its end recalls what it has read.
 */
function knock(world: World, process: Process, epoch: number): { refused: boolean } {
  const told = { refused: false };
  if (process.behaviour === 'stays-at-its-gate') return told;
  const read = (): void => {
    if (!process.alive || process.gate !== 'waiting' || process.granted !== null) return;
    const named = world.namedIn(process.activation.target, 'file');
    if (named?.activation !== process.id || named.epoch !== epoch) {
      told.refused = true;
      return;
    }
    process.granted = epoch;
    world.time.after(ownTime(world, process), () => whenAwake(process, () => pass(world, process)));
  };
  world.time.after(ownTime(world, process), () => whenAwake(process, read));
  return told;
}

/** A launcher that is slow takes longer than a handover may. */
const ownTime = (world: World, { behaviour }: Process): number =>
  behaviour === 'lingers-at-its-gate' ? world.dice.between(100, 2_500) : world.dice.between(1, 5);

/** The launcher becomes the program, which writes as soon as it runs and compares no row. */
function pass(world: World, process: Process): void {
  if (!process.alive || process.gate !== 'waiting') return;
  const granted = process.granted !== null;
  process.gate = 'passed';
  world.ledger.note({ kind: 'ran', granted, ...what(world, process), beside: writersBeside(world, process) });
  if (!granted) return;
  const run = (): void => {
    if (!process.alive) return;
    if (exitsNow(world, process)) return world.end(process, false);
    process.writing = true;
    work(world, process);
    activate(world, process);
    if (process.behaviour !== 'degrades-when-active') return;
    world.time.after(1, () => say(world, process, 'degraded'));
    world.time.after(120, () => say(world, process, 'active'));
  };
  world.time.after(world.dice.between(1, 30), () => whenAwake(process, run));
}

/** Who was never granted anything holds no state, whether it compares a row or waits for its state to be opened. */
const writersBeside = (world: World, process: Process): readonly string[] =>
  besides(world, process).filter((id) => world.processes.get(id)?.granted !== null);
