import type { Clock } from '../../clock.ts';
import { checkKey, encodeBatch, pageLimit } from '../batch.ts';
import { readEntry } from '../history.ts';
import { type RecordKind, recordCodec } from '../kinds.ts';
import { MAX_STORE_BYTES } from '../limits.ts';
import type { RecordKey, RecordStore, StoredRecord } from '../port.ts';
import { connect } from './connection.ts';
import type { Row } from './database.ts';

/** The record store on SQLite, and what only this one can do. */
export interface SqliteRecordStore extends RecordStore {
  /**
   * Reads the whole history and holds every entry against the one before it. The number of entries; throws
   * `StoreFault`.
   */
  verifyHistory(): Promise<number>;
  /**
   * Copies the store as it is now into a new file, checked and durable. Throws `StoreFault`, also when the file is
   * there.
   */
  backup(file: string): Promise<void>;
}

/**
 * Opens the record store in `file`, for this process alone (`FILE.lock` beside it holds the lock), in a thread of its
 * own: WAL, `synchronous=FULL`, checked before the first answer. Commits that arrive while the disk is busy share the
 * next sync. Throws `StoreFault`: `store-locked` names the holder's process id; `store-unreadable` is a damaged store,
 * or one that was here and is gone.
 *
 * @example
 * const store = await openRecordStore({ file, kinds: [...authorityRecordKinds], clock: systemClock() });
 */
export async function openRecordStore(options: {
  readonly file: string;
  readonly kinds: readonly RecordKind[];
  readonly clock: Clock;
  /** Largest size of the database file; a write beyond it is `store-full`. */
  readonly maxBytes?: number;
}): Promise<SqliteRecordStore> {
  const codec = recordCodec(options.kinds);
  const since = new Date(options.clock.wallMs()).toISOString();
  const { file, maxBytes = MAX_STORE_BYTES } = options;
  const connection = await connect({ file, holder: { pid: process.pid, since }, maxBytes });

  const decoded = (key: RecordKey, row: Row): StoredRecord => ({
    key,
    generation: row.generation,
    value: codec.decode(key, row.text),
  });

  return {
    async get(key) {
      checkKey(codec, key);
      const row = await connection.ask('get', { key });
      return row === null ? null : decoded(key, row);
    },
    async list(space, kind, { prefix = '', after = '', limit } = {}) {
      codec.kindOf(space, kind);
      const query = { space, kind, prefix, after, limit: pageLimit(limit) };
      const rows = await connection.ask('list', { query });
      return rows.map((row) => decoded({ space, kind, id: row.id }, row));
    },
    async commit(batch) {
      return connection.ask('commit', { batch: encodeBatch(codec, batch) });
    },
    async history({ subject = null, after = null, limit, newestFirst = false } = {}) {
      const query = { subject, after, limit: pageLimit(limit), newestFirst };
      const rows = await connection.ask('history', { query });
      return rows.map((row) => readEntry(row.text, row.sequence));
    },
    stateVersion: () => connection.ask('stateVersion', {}),
    verifyHistory: () => connection.ask('verifyHistory', {}),
    async backup(file) {
      await connection.ask('backup', { file });
    },
    async close() {
      await connection.ask('close', {});
      await connection.ended();
    },
  };
}
