import { closeSync, fstatSync, fsyncSync, openSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { LeaseRow } from '@idunn/authority';
import type { Digest } from '@idunn/kernel';
import { CREATE_TABLES, HAS_TABLES, INSERT_ROW, READ_ROW, UPDATE_ROW, WRITE_NONCE } from './tables.ts';

/** What a row is to become. */
export type NextRow = Pick<LeaseRow, 'epoch' | 'activation' | 'release' | 'stateSchema'>;

/**
 * One warm connection to a store. It never waits (`busy` is thrown at once), never checkpoints (that would sync inside
 * the gap), and commits without a sync of its own.
 *
 * POSIX locks of a process fall when it closes *any* descriptor of the file. So this process opens a store here and
 * nowhere else, and the descriptor that `sync` needs is opened before the connection and closed after it.
 */
export class StoreConnection {
  readonly path: string;
  readonly #descriptor: number;
  readonly #database: DatabaseSync;
  #read: StatementSync | null = null;
  #update: StatementSync | null = null;

  constructor(path: string) {
    this.path = path;
    this.#descriptor = openSync(path, 'r+');
    try {
      const url = pathToFileURL(path);
      url.searchParams.set('mode', 'rw');
      this.#database = new DatabaseSync(url, { timeout: 0 });
    } catch (error) {
      closeSync(this.#descriptor);
      throw error;
    }
    try {
      this.#database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;');
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** False when the path names another file by now: a connection to the old one would move a row nobody reads. */
  get current(): boolean {
    const mine = fstatSync(this.#descriptor, { bigint: true });
    const named = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    return named !== undefined && named.dev === mine.dev && named.ino === mine.ino;
  }

  get empty(): boolean {
    return fstatSync(this.#descriptor).size === 0;
  }

  journalMode(): string {
    return String(this.#database.prepare('PRAGMA journal_mode').get()?.['journal_mode']);
  }

  enterWal(): void {
    this.#database.exec('PRAGMA journal_mode = WAL');
  }

  begin(): void {
    this.#database.exec('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.#database.exec('COMMIT');
  }

  rollback(): void {
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }

  /** True when both tables are there. */
  hasTables(): boolean {
    return this.#database.prepare(HAS_TABLES).get()?.['tables'] === 2;
  }

  /** The row; `null` when there is none. */
  row(): LeaseRow | null {
    if (this.#read === null && !this.hasTables()) return null;
    this.#read ??= this.#database.prepare(READ_ROW);
    const row = this.#read.get();
    if (row === undefined) return null;
    return {
      stateId: row['stateId'] as string,
      epoch: row['epoch'] as number,
      activation: row['activation'] as string | null,
      release: row['release'] as Digest | null,
      stateSchema: row['stateSchema'] as string,
      nonce: row['nonce'] as string | null,
    };
  }

  createRow(stateId: string, row: NextRow): void {
    this.#database.exec(CREATE_TABLES);
    this.#database.prepare(INSERT_ROW).run(stateId, row.epoch, row.activation, row.release, row.stateSchema);
  }

  update(row: NextRow): void {
    this.#update ??= this.#database.prepare(UPDATE_ROW);
    this.#update.run(row.epoch, row.activation, row.release, row.stateSchema);
  }

  writeNonce(nonce: string): void {
    this.#database.prepare(WRITE_NONCE).run(nonce);
  }

  /** Makes every commit so far durable, wherever a checkpoint may have moved it. */
  sync(): void {
    const log = statSync(`${this.path}-wal`, { throwIfNoEntry: false });
    if (log !== undefined) {
      // Nobody locks the log itself, so opening and closing it is harmless.
      const descriptor = openSync(`${this.path}-wal`, 'r');
      try {
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    }
    fsyncSync(this.#descriptor);
  }

  close(): void {
    this.#database.close();
    closeSync(this.#descriptor);
  }
}

/** SQLITE_BUSY (5) and SQLITE_LOCKED (6), with their extended codes: somebody else has the database just now. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === 5 || code === 6;
}
