import { DatabaseSync } from 'node:sqlite';
import { StoreFault } from '../port.ts';
import { isBusy } from './faults.ts';
import { createPrivateFile } from './files.ts';

/** Who holds a store, for the message that the next one gets. */
export interface Holder {
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
}

/** The right to be the one daemon of a store, until `release` or the end of the process, however it ends. */
export interface StoreLock {
  /** True when the store was there under this lock before: one that is gone now has been lost (F28). */
  readonly storeWasHere: boolean;
  /** Remembers that the store is there from now on. */
  rememberStore(): void;
  release(): void;
}

/**
 * Takes the lock of a store: a reserved write transaction on a small database of its own, which the kernel ends with
 * the process. The holder's name is committed first, so others can read it beside the transaction that is held.
 * Nothing else may open this file: closing any descriptor of it would end the lock. Throws `StoreFault` `store-locked`.
 */
export function takeLock(file: string, holder: Holder): StoreLock {
  createPrivateFile(file);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  const committed = (statement: string, ...values: (number | string)[]): void => {
    database.prepare(statement).run(...values);
    database.exec('COMMIT');
    database.exec('BEGIN IMMEDIATE');
    // Between the two transactions somebody else may have come and gone.
    const { pid, since } = holderOf(database) ?? {};
    if (pid !== holder.pid || since !== holder.since) throw locked(database);
  };
  try {
    database.exec('BEGIN IMMEDIATE');
    database.exec(TABLES);
    const storeWasHere = database.prepare('SELECT 1 FROM store').get() !== undefined;
    committed('INSERT OR REPLACE INTO holder (id, pid, since) VALUES (1, ?, ?)', holder.pid, holder.since);
    return {
      storeWasHere,
      rememberStore: () => committed('INSERT INTO store (since) VALUES (?)', holder.since),
      release: () => database.close(),
    };
  } catch (error) {
    const fault = isBusy(error) ? locked(database) : error;
    database.close();
    throw fault;
  }
}

/** How long an opener waits: for one that is just ending, and for a holder that is just writing its name. */
const BUSY_TIMEOUT_MS = 250;

const TABLES = `
  CREATE TABLE IF NOT EXISTS holder (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, since TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS store (since TEXT NOT NULL) STRICT;
`;

function locked(database: DatabaseSync): StoreFault {
  const holder = nameOf(database);
  const by = holder === null ? 'another process' : `process ${holder.pid} since ${holder.since}`;
  return new StoreFault('store-locked', `The record store is in use by ${by}.`);
}

/** The holder's name, unless others keep even that from being read. */
function nameOf(database: DatabaseSync): Holder | null {
  try {
    return holderOf(database);
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}

function holderOf(database: DatabaseSync): Holder | null {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'holder'").get();
  if (table === undefined) return null;
  const row = database.prepare('SELECT pid, since FROM holder WHERE id = 1').get();
  return row === undefined ? null : { pid: Number(row['pid']), since: String(row['since']) };
}
