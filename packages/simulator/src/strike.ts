import type { EngineApi } from '@idunn/authority';
import type { Fates } from './misfortune.ts';
import type { FaultName, Strike } from './strikes.ts';
import { flap, replay } from './world/odd-words.ts';
import { pause } from './world/pause.ts';
import type { Process } from './world/process.ts';
import { candidateOf, holderOf } from './world/who.ts';

/** How long a freeze, a hold or an outage lasts, where the strike does not say. */
const STRIKE_MS = 400;

/** How long a machine is suspended: longer than a deployment may take. */
const SUSPENDED_MS = 20_000;

/** What a strike does something to, beside the world. */
export interface Struck extends Fates {
  readonly engine: EngineApi | null;
  kill(target: string): void;
  /** Copies the records; later they are put back so. */
  backUp(): void;
  restore(): void;
  /** Lets the next effect or durable write meet it. */
  meets(fault: FaultName): void;
}

/** Does a fault to a transaction and its target, now. */
export function strike(
  struck: Struck,
  { fault, lastsMs = STRIKE_MS }: Pick<Strike, 'fault' | 'lastsMs'>,
  target: string,
  transaction: string,
): void {
  const { world } = struck;
  const about = { operationId: `strike-${fault}`, actor: 'ops', tenant: 'local', transaction };
  const ended = (stop: 'freeze' | 'hold'): void => {
    world.stop(stop, target, { by: 'ops', reason: 'audit' });
    world.time.after(lastsMs, () => world.stop(stop, target, null));
  };
  switch (fault) {
    case 'daemon-killed':
      return struck.crash('a strike');
    case 'holder-killed':
      return struck.kill(target);
    case 'candidate-killed':
      return each(candidateOf(world, target), (one) => world.end(one, false));
    case 'holder-paused':
      return each(holderOf(world, target), (one) => pause(world, one, lastsMs));
    case 'candidate-paused':
      return each(candidateOf(world, target), (one) => pause(world, one, lastsMs));
    case 'presence-flapped':
      return each(candidateOf(world, target), (one) => flap(world, one));
    case 'presence-replayed':
      return each(candidateOf(world, target), (one) => replay(world, one));
    case 'death-feigned':
      return each(holderOf(world, target), ({ id }) => world.listeners.died(target, id));
    case 'machine-rebooted':
      return struck.reboot();
    case 'observer-gone':
      world.time.after(lastsMs, () => struck.observer(true));
      return struck.observer(false);
    case 'clock-stepped':
      return world.time.stepWall(-3_600_000);
    case 'clock-stood-still':
      world.ledger.note({ kind: 'clock' });
      return world.time.standStill(lastsMs);
    case 'machine-suspended':
      world.ledger.note({ kind: 'clock' });
      return world.time.suspend(SUSPENDED_MS);
    case 'frozen':
      return ended('freeze');
    case 'held':
      return ended('hold');
    case 'cancelled':
      return void struck.engine?.submit({ ...about, kind: 'cancel' });
    case 'expired':
      return void struck.engine?.submit({ ...about, kind: 'expire' });
    case 'answer-lost':
    case 'answer-late':
    case 'effect-doubled':
    case 'effect-overtaken':
    case 'effect-claimed':
    case 'effect-denied':
    case 'reading-garbled':
    case 'write-unknown':
    case 'disk-full':
      return struck.meets(fault);
  }
}

function each(process: Process | undefined, deed: (process: Process) => void): void {
  if (process !== undefined) deed(process);
}
