import { follow, GENESIS } from './event.js';

const SCHEMA = `CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  hash TEXT NOT NULL,
  epoch INTEGER NOT NULL
) STRICT`;

const HEAD = 'SELECT seq, hash, epoch FROM events ORDER BY seq DESC LIMIT 1';
const BY_ID = 'SELECT seq, id, text, hash, epoch FROM events WHERE id = ?';
const PAGE = 'SELECT seq, id, text, hash, epoch FROM events WHERE seq >= ? ORDER BY seq LIMIT ?';
const APPEND = 'INSERT INTO events (seq, id, text, hash, epoch) VALUES (?, ?, ?, ?, ?)';

/**
 * The world's memory: numbered events in a hash chain. Nothing is kept beside the database, so nothing can be stale.
 */
export class Journal {
  #store;
  #exists = false;

  /** @param {import('#workload').GuardedStore} store */
  constructor(store) {
    this.#store = store;
    this.head(); // Prepares the statements and warms the cache before anybody waits.
  }

  /** Makes the table where there is none; needs the lease. An existing world costs no write, and so no time. */
  create() {
    if (this.#found()) return;
    this.#store.write((database) => database.exec(SCHEMA));
  }

  /**
   * Appends drafts in one durable transaction. An id that is there already gets its first event back.
   *
   * @param {readonly import('./event.js').Draft[]} drafts
   * @param {number} epoch
   * @returns {readonly { event: import('./event.js').Event, repeated: boolean }[]}
   */
  append(drafts, epoch) {
    return this.#store.write((database) => {
      const [byId, insert] = [database.prepare(BY_ID), database.prepare(APPEND)];
      let head = database.prepare(HEAD).get() ?? GENESIS;
      return drafts.map((draft) => {
        const earlier = byId.get(draft.id);
        if (earlier !== undefined) return { event: earlier, repeated: true };
        const event = follow(head, draft, epoch);
        insert.run(event.seq, event.id, event.text, event.hash, event.epoch);
        head = event;
        return { event, repeated: false };
      });
    });
  }

  /** @returns {import('./event.js').Head} */
  head() {
    return this.#read((database) => database.prepare(HEAD).get()) ?? GENESIS;
  }

  /**
   * @param {number} from the first number that is wanted
   * @param {number} limit
   * @returns {readonly import('./event.js').Event[]}
   */
  events(from, limit) {
    return this.#read((database) => database.prepare(PAGE).all(from, limit)) ?? [];
  }

  #read(body) {
    return this.#found() ? this.#store.read(body) : undefined;
  }

  #found() {
    const query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'events'";
    this.#exists ||= this.#store.read((database) => database.prepare(query).get()) !== undefined;
    return this.#exists;
  }
}
