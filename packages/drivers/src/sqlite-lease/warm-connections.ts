import { StoreConnection } from './store-connection.ts';

/** Connections kept open at once, four descriptors each; the one that was used longest ago is closed first. */
const WARM_LIMIT = 64;

/** Opens each store once and keeps it warm, so that a swap meets an open database and prepared statements. */
export class WarmConnections {
  readonly #open = new Map<string, StoreConnection>();

  /** The connection to the file that the path names now. Throws what SQLite throws. */
  open(path: string): StoreConnection {
    const known = this.#open.get(path);
    const fits = known?.current === true;
    if (known !== undefined && !fits) known.close();
    const connection = known !== undefined && fits ? known : new StoreConnection(path);
    // Put last: the first of the map is the one that was used longest ago.
    this.#open.delete(path);
    this.#open.set(path, connection);
    this.#evict();
    return connection;
  }

  close(): void {
    for (const connection of this.#open.values()) connection.close();
    this.#open.clear();
  }

  #evict(): void {
    const [oldest] = this.#open;
    if (oldest === undefined || this.#open.size <= WARM_LIMIT) return;
    this.#open.delete(oldest[0]);
    oldest[1].close();
  }
}
