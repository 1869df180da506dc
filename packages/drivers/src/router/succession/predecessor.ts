import type { ChildProcess } from 'node:child_process';
import type { Server } from 'node:net';
import { type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import { startHelper } from '../../helper/start.ts';
import type { ToPredecessor, ToSuccessor } from './messages.ts';

/** What a router has that its successor takes over. */
export interface Estate {
  /** The successor by argv. */
  readonly argv: readonly [string, ...string[]];
  readonly logFile: string;
  /** Why nothing can be handed over now; `null` when it can. */
  readonly busy: () => string | null;
  /** Ends all changes, and lets go of control socket and lock; what serves goes on. */
  readonly letGo: () => Promise<void>;
  /** The socket that listens on an address. */
  readonly listener: (address: string) => Server | null;
  /** Undoes `letGo`; `superseded` when another router has the lock by now. */
  readonly takeBack: () => Promise<'taken' | 'superseded'>;
}

/**
 * Starts the successor and hands everything over. Until it answers `handed-over` this router serves; when the successor
 * refuses or dies before it serves, it goes on as before (F9). `superseded`: somebody else serves the fleet.
 */
export async function handOver(estate: Estate, timers: Timers): Promise<Outcome<'handed-over' | 'superseded'>> {
  const { argv, logFile } = estate;
  const busy = estate.busy();
  if (busy !== null) return cannotNow(busy);
  const progress: { letGo?: Promise<string | null> } = {};
  const speak = (child: ChildProcess): void => {
    const say = (message: ToSuccessor, server?: Server): void => {
      child.send(message, server, {}, () => undefined); // It has gone: then its end says so.
    };
    child.on('message', (message: ToPredecessor) => {
      if (message.kind === 'want')
        return say({ kind: 'listener', address: message.address }, estate.listener(message.address) ?? undefined);
      progress.letGo ??= estate.letGo().then(() => {
        const reason = estate.busy();
        if (reason === null) say({ kind: 'go' });
        else child.kill('SIGKILL');
        return reason;
      });
    });
  };
  const started = await startHelper(
    { name: 'router', argv, files: [], logFile, failed: 'router-start-failed', speak },
    timers,
  );
  if (started.ok) return ok('handed-over');
  if (progress.letGo === undefined) return started;
  const reason = await progress.letGo;
  if ((await estate.takeBack()) === 'superseded') return ok('superseded');
  return reason === null ? started : cannotNow(reason);
}

const cannotNow = (because: string): Outcome<never> =>
  refused(refusal('router-busy', `The router cannot be replaced now: ${because}.`));
