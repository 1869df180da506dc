import { existsSync, watch } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import { type Standpoint, vital } from '../process/identity.ts';
import { listenerOwner } from './listener.ts';

/** A socket that is bound but does not listen yet is looked at again after this. */
const BOUND_LOOK_MS = 2;
/** Without any event, the process is looked at so often: it may have died without ever listening. */
const SLOW_LOOK_MS = 250;

export interface Reaching {
  readonly identity: RuntimeIdentity;
  readonly path: string;
  readonly from: Standpoint;
  readonly timers: Timers;
  /** True when nobody wants the connection any more. */
  readonly abandoned: () => boolean;
}

/**
 * Connects to a program's socket as soon as exactly its process listens there, for at most `withinMs`. What was checked
 * before the connection is checked again after it.
 */
export async function reach(reaching: Reaching, withinMs: number): Promise<Outcome<Socket>> {
  let late = false;
  const withdraw = reaching.timers.after(withinMs, () => {
    late = true;
  });
  try {
    for (;;) {
      const ready = await check(reaching);
      if (!ready.ok) return ready;
      if (ready.value === 'own') {
        const socket = await connected(reaching.path);
        if (socket !== null) return await checkAgain(reaching, socket);
      }
      if (late || reaching.abandoned()) return notListening(reaching);
      await nextLook(reaching);
    }
  } finally {
    withdraw();
  }
}

/** Whether the process lives and who listens; a foreign listener is refused. */
async function check({ identity, path, from }: Reaching): Promise<Outcome<'own' | 'nobody'>> {
  const alive = vital(identity, from);
  if (alive.kind !== 'seen') {
    const why = alive.kind === 'unknown' ? alive.because : `process ${identity.pid} is gone`;
    return refused(refusal('channel-process-gone', `The channel cannot be opened: ${why}.`));
  }
  const owner = await listenerOwner(identity.pid, path);
  if (owner !== 'foreign') return ok(owner);
  return refused(
    refusal('channel-foreign-listener', `Another process than ${identity.pid} listens on its socket ${path}.`),
  );
}

async function checkAgain(reaching: Reaching, socket: Socket): Promise<Outcome<Socket>> {
  const still = await check(reaching);
  if (still.ok && still.value === 'own') return ok(socket);
  socket.destroy();
  return still.ok ? notListening(reaching) : still;
}

const notListening = ({ identity, path }: Reaching): Outcome<never> =>
  refused(refusal('channel-not-listening', `Process ${identity.pid} does not listen on ${path}.`));

/** `null` when the program does not accept just now. */
function connected(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

/** Resolves when something changed in the socket's directory, or it is time to look without that. */
function nextLook({ path, timers }: Reaching): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watchOrNull(dirname(path), () => finish());
    const withdraw = timers.after(existsSync(path) ? BOUND_LOOK_MS : SLOW_LOOK_MS, () => finish());
    const finish = (): void => {
      watcher?.close();
      withdraw();
      resolve();
    };
  });
}

function watchOrNull(directory: string, listener: () => void) {
  try {
    return watch(directory, listener).on('error', listener);
  } catch {
    return null;
  }
}
