import { isAbsolute, join, resolve } from 'node:path';
import { type Answer, answered, declined } from '../answer.ts';
import { OPERATOR_SOCKET } from '../api.ts';
import { FLEET_FILE, readField } from './locate.ts';

const NAMES = ['state', 'runtime', 'releases', 'logs', 'cache'] as const;

/** Where a fleet keeps what it makes; absolute paths. */
export type FleetDirectories = Readonly<Record<(typeof NAMES)[number], string>>;

export interface Account {
  readonly root: boolean;
  readonly home: string;
  variable(name: string): string | undefined;
}

/**
 * The directories of a fleet, read leniently: a program that only wants to reach the daemon, or to look at a broken
 * fleet, must not need a faultless fleet file. The daemon reads the same file strictly; a test holds the two
 * together.
 */
export async function fleetDirectories(directory: string, account: Account): Promise<Answer<FleetDirectories>> {
  const file = join(directory, FLEET_FILE);
  const fleet = (await readField(file, (value) => value)) as { id?: unknown; directories?: unknown } | undefined;
  if (typeof fleet?.id !== 'string') {
    return declined(
      'fleet-pointer-invalid',
      `${file} is no TOML with a line id = "NAME"`,
      'Correct the file; idunn daemon names every fault in it.',
    );
  }
  const written = (typeof fleet.directories === 'object' ? fleet.directories : {}) as Record<string, unknown>;
  const defaults = defaultDirectories(fleet.id, account);
  const resolved = NAMES.map((name) => {
    const own = written[name];
    return [name, typeof own === 'string' ? resolve(directory, own) : defaults[name]];
  });
  return answered(Object.fromEntries(resolved) as FleetDirectories);
}

export const operatorSocket = ({ runtime }: Pick<FleetDirectories, 'runtime'>): string =>
  join(runtime, OPERATOR_SOCKET);

function defaultDirectories(id: string, account: Account): FleetDirectories {
  if (account.root) {
    return {
      state: `/var/lib/idunn/${id}/state`,
      runtime: `/run/idunn/${id}`,
      releases: `/var/lib/idunn/${id}/releases`,
      logs: `/var/log/idunn/${id}`,
      cache: `/var/cache/idunn/${id}`,
    };
  }
  const base = (name: string, fallback: string): string => {
    const value = account.variable(name);
    return value !== undefined && isAbsolute(value) ? value : join(account.home, fallback);
  };
  const state = join(base('XDG_STATE_HOME', '.local/state'), 'idunn', id);
  const runtime = account.variable('XDG_RUNTIME_DIR');
  return {
    state: join(state, 'state'),
    runtime: runtime !== undefined && isAbsolute(runtime) ? join(runtime, 'idunn', id) : join(state, 'run'),
    releases: join(state, 'releases'),
    logs: join(state, 'logs'),
    cache: join(base('XDG_CACHE_HOME', '.cache'), 'idunn', id),
  };
}
