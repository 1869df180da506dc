import { access, chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RECORD_KINDS } from '@idunn/authority';
import { OPERATOR_SOCKET } from '@idunn/client';
import { BOOTSTRAP_KIND } from '@idunn/drivers';
import {
  type Clock,
  type Ids,
  type KeyFile,
  type Outcome,
  ok,
  openRecordStore,
  refusal,
  refused,
  type SqliteRecordStore,
  StoreFault,
  type Timers,
} from '@idunn/kernel';
import { type Account, AUTHORIZATION_KIND, type Directories } from '@idunn/release';
import type { Logger } from 'pino';
import { type FleetSource, openFleet } from './fleet/fleet-source.ts';
import { type Keyring, openKeyring } from './keys/keyring.ts';
import { checkSocketPath } from './sockets.ts';

/** The target that correlates all others; its name is taken in every fleet. */
export const OBSERVER_TARGET = 'observer';

/** The machine's own edges, brought by the program. */
export interface Machine {
  readonly name: string;
  readonly account: Account;
  readonly user: { readonly name: string; readonly uid: number };
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
}

/** What the daemon stands on: the fleet's files, its directories, its records and its keys. */
export interface Ground {
  readonly machine: Machine;
  readonly fleet: FleetSource;
  readonly directories: Directories;
  readonly operatorSocket: string;
  readonly store: SqliteRecordStore;
  readonly keyring: Keyring;
  readonly authority: KeyFile;
  readonly log: Logger;
}

/**
 * Opens the ground in the order in which it can be refused: nothing is made before everything that was written is
 * checked.
 */
export async function openGround(
  directory: string,
  machine: Machine,
  logTo: (logs: string) => Logger,
): Promise<Outcome<Ground>> {
  const fleet = await openFleet(directory, machine.account);
  if (!fleet.ok) return fleet;
  const { directories } = fleet.value.last.fleet;
  const socket = checkSocketPath(join(directories.runtime, OPERATOR_SOCKET));
  if (!socket.ok) return socket;
  const lasting = await outlivesLogOut(directories.runtime, machine.user);
  if (!lasting.ok) return lasting;
  // Other users pass through here to what is theirs in it.
  for (const path of [directories.cache, directories.runtime, directories.releases]) {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  }
  for (const path of Object.values(directories)) await mkdir(path, { recursive: true, mode: 0o700 });
  // Workloads with users of their own pass through to what is theirs, and to what they run.
  if (machine.user.uid === 0) {
    for (const path of [directories.runtime, directories.releases]) await chmod(path, 0o711);
  }
  const log = logTo(directories.logs);
  const store = await openStore(join(directories.state, 'records.sqlite'), machine);
  if (!store.ok) return store;
  const keyring = openKeyring(directories.state, machine.clock);
  const authority = await keyring.authority();
  if (!authority.ok) {
    await store.value.close();
    return authority;
  }
  return ok({
    machine,
    fleet: fleet.value,
    directories,
    operatorSocket: socket.value,
    store: store.value,
    keyring,
    authority: authority.value,
    log,
  });
}

/** A daemon that is just ending lets its store go within this. */
const LOCK_WAIT = { everyMs: 50, times: 60 };

/** The store's lock is the daemon's: one daemon for each fleet. One that is just ending is waited for. */
async function openStore(file: string, { clock, timers }: Machine): Promise<Outcome<SqliteRecordStore>> {
  for (let attempt = 0; ; attempt++) {
    try {
      return ok(await openRecordStore({ file, kinds: [...RECORD_KINDS, AUTHORIZATION_KIND, BOOTSTRAP_KIND], clock }));
    } catch (error) {
      if (!(error instanceof StoreFault) || error.code !== 'store-locked') throw error;
      if (attempt === LOCK_WAIT.times) return refused(refusal('daemon-already-running', error.message));
      await new Promise<void>((resolve) => void timers.after(LOCK_WAIT.everyMs, resolve));
    }
  }
}

/** systemd wipes /run/user/UID when its user logs out; only a lingering user keeps it. */
async function outlivesLogOut(runtime: string, user: Machine['user']): Promise<Outcome<'lasting'>> {
  if (!`${runtime}/`.startsWith(`/run/user/${user.uid}/`)) return ok('lasting');
  const lingers = await access(`/var/lib/systemd/linger/${user.name}`).then(
    () => true,
    () => false,
  );
  if (lingers) return ok('lasting');
  return refused(
    refusal('runtime-directory-volatile', `${runtime} is wiped when ${user.name} logs out.`, {
      remedy: `Run loginctl enable-linger ${user.name}, or name another runtime directory in fleet.toml.`,
    }),
  );
}
