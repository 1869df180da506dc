import { IdunnError, messageOf } from '../errors.ts';
import type { StoreLocation } from '../launch/document.ts';
import { StoreConnection } from './connection.ts';
import type { SqliteDriver } from './driver.ts';
import { ConnectionStore, type GuardedStore, type Permit } from './guarded-store.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { EVERY_RULE, type Without } from './rules.ts';

/** Connections that one program may open, over all its stores. */
const CONNECTION_LIMIT = 64;

/** The stores of the state contract, and every connection that the program has opened to them. */
export class StoreShelf {
  readonly #locations: readonly StoreLocation[];
  readonly #processId: () => number;
  readonly #log: (line: string) => void;
  readonly #without: Without;
  readonly #open: ConnectionStore[] = [];
  readonly #drivers = new Map<string, string>();

  constructor(
    locations: readonly StoreLocation[],
    processId: () => number,
    log: (line: string) => void,
    without: Without = EVERY_RULE,
  ) {
    this.#locations = locations;
    this.#processId = processId;
    this.#log = log;
    this.#without = without;
  }

  /** The live list. */
  get open(): readonly ConnectionStore[] {
    return this.#open;
  }

  take(id: string, permit: Permit, driver: SqliteDriver = nodeSqlite): GuardedStore {
    if (this.#open.length >= CONNECTION_LIMIT) {
      throw new IdunnError('workload-connection-limit', `The program has ${CONNECTION_LIMIT} connections open`);
    }
    this.#refuseSecondLibrary(id, driver);
    const connection = new StoreConnection(this.#locate(id, 'sqlite').path, driver, this.#without);
    const store = new ConnectionStore(id, connection, permit, this.#processId, this.#without);
    this.#open.push(store);
    return store;
  }

  path(id: string): string {
    return this.#locate(id, 'files').path;
  }

  inspect(): void {
    for (const store of this.#open) store.connection.inspect();
  }

  /**
   * The nonce of each SQLite store, read through every connection to it. `null` when none is open, when one cannot be
   * trusted, or when they do not all read the same: then they are not all on the authority's database (I1).
   */
  nonces(): Readonly<Record<string, string | null>> {
    const sqlite = this.#locations.filter((location) => location.kind === 'sqlite');
    return Object.fromEntries(sqlite.map(({ id }) => [id, this.#nonce(id)]));
  }

  close(): void {
    for (const store of this.#open.splice(0)) store.connection.close();
  }

  #nonce(id: string): string | null {
    const connections = this.#open.filter((store) => store.id === id).map((store) => store.connection);
    const asked = this.#without.has('every-connection-echoes') ? connections.slice(0, 1) : connections;
    try {
      for (const connection of asked) connection.inspect();
      const nonces = new Set(asked.map((connection) => connection.nonce()));
      return nonces.size === 1 ? ([...nonces][0] ?? null) : null;
    } catch (error) {
      this.#log(`no echo for ${id}: ${messageOf(error)}`);
      return null;
    }
  }

  /** POSIX drops all of a process's locks on a file when either library closes it: neither would be guarded (I1). */
  #refuseSecondLibrary(id: string, driver: SqliteDriver): void {
    const other = this.#drivers.get(id) ?? driver.name;
    this.#drivers.set(id, other);
    if (other === driver.name || this.#without.has('one-library')) return;
    const reason = `The store ${id} was opened by ${other}; ${driver.name} cannot open it in the same process`;
    throw new IdunnError('workload-store-two-libraries', reason);
  }

  #locate(id: string, kind: StoreLocation['kind']): StoreLocation {
    const location = this.#locations.find((store) => store.id === id);
    if (location?.kind === kind) return location;
    const what = location === undefined ? 'is not in the state contract' : `is of kind ${location.kind}, not ${kind}`;
    throw new IdunnError('workload-store-unknown', `The store ${id} ${what}`);
  }
}
