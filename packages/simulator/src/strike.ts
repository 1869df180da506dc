import type { EngineApi } from '@idunn/authority';
import type { Fates } from './misfortune.ts';
import type { FaultName, Strike } from './strikes.ts';

/** How long a freeze, a hold or an outage lasts, where the strike does not say. */
const STRIKE_MS = 400;

/** What a strike does something to, beside the world. */
export interface Struck extends Fates {
  readonly engine: EngineApi | null;
  kill(target: string): void;
  /** Lets the next effect or durable write meet it. */
  meets(fault: FaultName): void;
}

/** Does a fault to a transaction and its target, now. */
export function strike(
  struck: Struck,
  { fault, lastsMs = STRIKE_MS }: Strike,
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
    case 'candidate-killed': {
      const named = world.named(target)?.activation;
      const living = [...world.processes.values()].filter((one) => one.alive && one.activation.target === target);
      const victim = living.findLast(({ id }) => id !== named) ?? living.at(-1);
      return victim === undefined ? undefined : world.end(victim, false);
    }
    case 'machine-rebooted':
      return struck.reboot();
    case 'observer-gone':
      world.time.after(lastsMs, () => struck.observer(true));
      return struck.observer(false);
    case 'clock-stepped':
      return world.time.stepWall(-3_600_000);
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
