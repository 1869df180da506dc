import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Clock,
  type Ids,
  listenPrivately,
  type Outcome,
  openRecordStore,
  type RecordStore,
  readSeedFile,
  StoreFault,
  type Timers,
  verificationKey,
} from '@idunn/kernel';
import { OBSERVER_KINDS } from './book/records.ts';
import { makePrivateDirectory } from './edge/directories.ts';
import { readLaunch } from './launch/launch-document.ts';
import { TAKE_OVER_EVERY_MS, TAKE_OVER_HURRIES, TAKE_OVER_HURRY_MS } from './limits.ts';
import { channel } from './self/channel.ts';
import { incumbentDial } from './self/incumbent-dial.ts';
import { selfPresence } from './self/self-presence.ts';
import { serve } from './serve.ts';

/** Where the observer finds what it needs, and the edges of its world. */
export interface ProgramOptions {
  /** `IDUNN_ACTIVATION_DIRECTORY`: keys, launch document and channel socket. */
  readonly activationDirectory: string;
  /** Holds the observer's store. Whoever holds the store is *the* observer of the fleet. */
  readonly storeDirectory: string;
  /** Where the holder listens: `presence.sock` for workloads, `link.sock` for the daemon. */
  readonly socketDirectory: string;
  readonly pid: number;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  /** Lets other work go first. */
  readonly yieldTo: (turn: () => void) => void;
  readonly log: (text: string) => void;
  /** Ends the program: its store refused a write. */
  readonly fail: (cause: unknown) => void;
}

/** The running program; `close` ends it in order: sockets first, then the store, which the next observer waits for. */
export interface Program {
  close(): Promise<void>;
}

/** Starts the observer. Throws when its directory, keys or launch document cannot be used. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { activationDirectory: directory, socketDirectory, clock, timers, ids, pid, log } = options;
  const launch = orThrow(readLaunch(readFileSync(join(directory, 'launch.json'), 'utf8')));
  const activationKey = orThrow(await readSeedFile(join(directory, 'activation.key')));
  const signerKey = orThrow(await readSeedFile(join(directory, 'signer.key')));
  if (signerKey.keyId !== launch.expected.signer) {
    throw new Error(`signer.key is ${signerKey.keyId}, and Expected names ${launch.expected.signer}`);
  }
  const authority = verificationKey(launch.authority.publicKey);
  const { audience } = launch.header;
  for (const needed of [options.storeDirectory, socketDirectory]) makePrivateDirectory(needed);

  const self = selfPresence({ launch, activationKey, signerKey, pid, ids });
  const lease = channel({
    launch,
    authority,
    activationKey,
    pid,
    challenge: () => randomBytes(32).toString('hex'),
    opened: () => lease.send(() => self.next()),
    log,
  });
  const channelServer = await listenPrivately(join(directory, 'channel.sock'), timers, (socket) =>
    lease.accept(socket),
  );

  const ending = new AbortController();
  let dial: ReturnType<typeof incumbentDial> | null = null;
  let cancelRepeat: (() => void) | null = null;
  let serving: { close(): Promise<void> } | null = null;
  /** Ends the standby's present wait. */
  let look: () => void = () => undefined;
  let hurries = 0;

  function announce(): void {
    cancelRepeat?.();
    lease.send(() => self.next());
    dial?.send();
    cancelRepeat = timers.after(launch.presenceEveryMs, announce);
  }

  const waitToLook = (): Promise<void> =>
    new Promise((resolve) => {
      const cancel = timers.after(hurries > 0 ? TAKE_OVER_HURRY_MS : TAKE_OVER_EVERY_MS, resolve);
      hurries = Math.max(0, hurries - 1);
      look = () => {
        cancel();
        resolve();
      };
    });

  /** A standby is whole and says so; it takes the store, and with it the sockets, when the incumbent lets it go. */
  function standBy(): void {
    self.become('active', 'standing by: another observer holds the store');
    dial = incumbentDial({
      socket: join(socketDirectory, 'presence.sock'),
      timers,
      presence: () => self.next(),
      gone: () => {
        hurries = TAKE_OVER_HURRIES;
        look();
      },
    });
    announce();
  }

  async function takeStore(): Promise<RecordStore | null> {
    const file = join(options.storeDirectory, 'observer.sqlite');
    while (!ending.signal.aborted) {
      try {
        return await openRecordStore({ file, kinds: OBSERVER_KINDS, clock });
      } catch (error) {
        if (!(error instanceof StoreFault && error.code === 'store-locked')) throw error;
      }
      if (dial === null) standBy();
      await waitToLook();
    }
    return null;
  }

  async function run(): Promise<void> {
    const store = await takeStore();
    if (store === null) return;
    dial?.stop();
    dial = null;
    serving = await serve({ ...options, store, launch, authority, signerKey });
    self.become('active', '');
    announce();
    log(`serving ${audience.fleet} on ${audience.machine}`);
  }

  const running = run().catch(options.fail);

  return {
    async close() {
      ending.abort();
      cancelRepeat?.();
      dial?.stop();
      look();
      await running;
      await serving?.close();
      lease.close();
      await channelServer.close();
    },
  };
}

function orThrow<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`${outcome.refusal.code}: ${outcome.refusal.reason} ${outcome.refusal.remedy}`);
}
