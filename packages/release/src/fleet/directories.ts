import { posix } from 'node:path';
import type { FleetFile } from './schema.ts';

/** Where a fleet keeps what it makes; absolute paths. */
export interface Directories {
  /** The record store and keys. */
  readonly state: string;
  /** Sockets and activation directories. */
  readonly runtime: string;
  readonly releases: string;
  readonly logs: string;
  /** Git objects, pinned inputs and stages: all of it can be made again. */
  readonly cache: string;
}

/** Who asks, as far as the default directories depend on it. */
export interface Account {
  readonly root: boolean;
  readonly home: string;
  /**
   * `XDG_STATE_HOME`, `XDG_RUNTIME_DIR` and `XDG_CACHE_HOME` are read; relative ones count as unset, as the XDG rules
   * say.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The directories of fleet.toml, relative ones from the fleet directory, with the documented defaults for the others.
 */
export function resolveDirectories(root: string, { id, directories }: FleetFile, account: Account): Directories {
  const defaults = account.root ? systemDirectories(id) : userDirectories(id, account);
  const resolve = (name: keyof Directories): string => {
    const named = directories[name];
    return named === undefined ? defaults[name] : posix.resolve(root, named);
  };
  return {
    state: resolve('state'),
    runtime: resolve('runtime'),
    releases: resolve('releases'),
    logs: resolve('logs'),
    cache: resolve('cache'),
  };
}

const systemDirectories = (id: string): Directories => ({
  state: `/var/lib/idunn/${id}/state`,
  runtime: `/run/idunn/${id}`,
  releases: `/var/lib/idunn/${id}/releases`,
  logs: `/var/log/idunn/${id}`,
  cache: `/var/cache/idunn/${id}`,
});

function userDirectories(id: string, { home, environment }: Account): Directories {
  const base = (variable: string, fallback: string): string => {
    const value = environment[variable];
    return value !== undefined && posix.isAbsolute(value) ? value : posix.join(home, fallback);
  };
  const state = posix.join(base('XDG_STATE_HOME', '.local/state'), 'idunn', id);
  const runtime = environment['XDG_RUNTIME_DIR'];
  return {
    state: posix.join(state, 'state'),
    runtime:
      runtime !== undefined && posix.isAbsolute(runtime) ? posix.join(runtime, 'idunn', id) : posix.join(state, 'run'),
    releases: posix.join(state, 'releases'),
    logs: posix.join(state, 'logs'),
    cache: posix.join(base('XDG_CACHE_HOME', '.cache'), 'idunn', id),
  };
}
