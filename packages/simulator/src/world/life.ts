import { fork, WORK_EVERY_MS } from './forks.ts';
import { flap, replay } from './odd-words.ts';
import { whenAwake } from './pause.ts';
import type { Process } from './process.ts';
import { say } from './say.ts';
import type { World } from './world.ts';

/** Lets a started program live: it warms, or does what its behaviour makes it do. */
export function live(world: World, process: Process): void {
  world.ledger.note({ kind: 'started', ...what(world, process) });
  // Two that cannot overlap meet at the one port: the second finds it taken.
  if (process.activation.endpoint?.port === ONLY_PORT && besides(world, process).length > 0) {
    return void world.time.after(1, () => world.end(process, false));
  }
  const startMs = world.dice.between(1, 30);
  world.time.after(startMs, () => whenAwake(process, () => warm(world, process)));
}

function warm(world: World, process: Process): void {
  if (!process.alive) return;
  if (process.behaviour === 'exits-at-start') return world.end(process, false);
  process.listening = true;
  if (process.behaviour === 'never-warms' || hangs(process)) return;
  say(world, process, 'warming');
  if (process.behaviour === 'replays-presence') world.time.after(1, () => replay(world, process));
  if (!process.stateful) world.time.after(world.dice.between(1, 20), () => activate(world, process));
}

const hangs = ({ behaviour, relaunched }: Process): boolean => behaviour === 'hangs-when-relaunched' && relaunched;

/** The one port of a target that cannot overlap. */
export const ONLY_PORT = 19_000;

export const what = (world: World, process: Process) => ({
  activation: process.id,
  executable: process.observed.executable,
  sealed: process.gate === 'waiting' ? process.observed.executable : sealedOf(world, process),
  beside: besides(world, process),
});

export const besides = (world: World, process: Process): readonly string[] =>
  [...world.processes.values()]
    .filter((other) => other !== process && other.running && other.activation.target === process.activation.target)
    .map(({ id }) => id);

const sealedOf = (world: World, process: Process): string =>
  world.sealedAs.get(process.activation.incarnation) ?? 'unknown';

export function activate(world: World, process: Process): void {
  if (!process.alive || process.behaviour === 'never-active') return;
  if (process.behaviour === 'says-failed') return say(world, process, 'failed');
  fork(world, process);
  say(world, process, 'active');
  if (process.behaviour === 'flaps-when-active') flap(world, process);
  if (process.behaviour === 'replays-presence') replay(world, process);
}

/** A pushed grant: the program re-reads the row, begins to write and says so. */
export function takeGrant(world: World, process: Process, epoch: number): void {
  if (process.granted !== null && epoch <= process.granted && process.state === 'active' && process.writing) return;
  if (epoch <= process.refused || !isNamed(world, process, epoch)) return;
  process.granted = epoch;
  process.relinquished = null;
  world.ledger.note({ kind: 'granted', activation: process.id, epoch });
  world.time.after(world.dice.between(1, 10), () => whenAwake(process, () => begin(world, process, epoch)));
}

function begin(world: World, process: Process, epoch: number): void {
  if (!process.alive || process.granted !== epoch) return;
  const { behaviour } = process;
  if (endsOnGrant(world, process)) return world.end(process, false);
  if (behaviour !== 'never-active' && behaviour !== 'says-failed') {
    process.writing = true;
    work(world, process);
  }
  activate(world, process);
}

/** The row, read again, names this program: a grant that it does not is refused for ever (I1, I5). */
function isNamed(world: World, process: Process, epoch: number): boolean {
  if (process.behaviour === 'own-database') return true;
  const named = world.namedIn(process.activation.target, 'rows');
  if (named?.activation === process.id && named.epoch === epoch) return true;
  process.refused = Math.max(process.refused, epoch);
  return false;
}

/** Every program also writes of its own accord, whatever the proxy does; such writes have no request. */
export function work(world: World, process: Process): void {
  if (!process.alive || process.granted === null) return;
  write(world, process, 0);
  world.pace.after(WORK_EVERY_MS, () => work(world, process));
}

/** Its own way to end as soon as it may write. */
const endsOnGrant = (world: World, process: Process): boolean =>
  process.behaviour === 'exits-after-grant' ||
  (process.behaviour === 'exits-once-after-grant' && firstOfItsKind(world, process));

/** The same of a program behind a gate, whose start is what the grant lets it do. */
export const exitsNow = (world: World, process: Process): boolean =>
  process.behaviour === 'exits-at-start' || endsOnGrant(world, process);

const firstOfItsKind = (world: World, process: Process): boolean =>
  [...world.processes.values()].filter(
    ({ activation, alive }) => activation.incarnation === process.activation.incarnation && !alive,
  ).length === 0;

/** The handover is off, or its term is over: the row, read again, decides whether the program goes on. */
export function reconsider(world: World, process: Process): void {
  if (!process.alive || process.relinquished === null) return;
  process.relinquished = null;
  const named = world.namedIn(process.activation.target, 'rows');
  process.writing = named !== null && named.activation === process.id && named.epoch === process.granted;
}

/**
 * A guarded write: one transaction that compares the row and writes. A program with a database of its own compares that
 * one, which nobody fences; only its end ends its writes.
 */
export function write(world: World, process: Process, request: number): boolean {
  if (process.paused) return false;
  if (!process.alive || !process.writing || process.granted === null || process.relinquished !== null) return false;
  if (process.behaviour !== 'own-database' && process.gate === 'none') {
    const named = world.namedIn(process.activation.target, 'rows');
    if (named?.activation !== process.id || named.epoch !== process.granted) {
      process.writing = false;
      return false;
    }
  }
  if (process.lastWriteAtMs === null) world.listeners.firstWrite(process, process.granted);
  process.lastWriteAtMs = world.time.monotonicMs;
  // It knows of no epoch: it writes under the one that names it, whichever that is.
  const named = process.gate === 'passed' ? world.namedIn(process.activation.target, 'file') : null;
  const epoch = named?.activation === process.id ? named.epoch : process.granted;
  world.ledger.note({ kind: 'write', request, activation: process.id, epoch });
  return true;
}
