import { DatabaseSync } from 'node:sqlite';
import type { Versions } from '../batch.ts';
import { EMPTY_HISTORY, following, type HistoryHead, readEntry } from '../history.ts';
import { StoreFault } from '../port.ts';

/** "Idun" in ASCII: says that the file is ours. */
const APPLICATION_ID = 0x4964756e;
/** Version of the tables. A store with another one is refused, never converted in passing. */
const TABLES_VERSION = 1;
/** How long an opener waits for a reader that is just recovering the file. */
const BUSY_TIMEOUT_MS = 2_000;

const TABLES = `
  CREATE TABLE record (
    space TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, generation INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (space, kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE history (sequence INTEGER PRIMARY KEY, subject TEXT NOT NULL, entry TEXT NOT NULL) STRICT;
  CREATE INDEX history_subject ON history (subject, sequence);
  CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    catalogue INTEGER NOT NULL, journal INTEGER NOT NULL, sequence INTEGER NOT NULL, digest TEXT NOT NULL
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${TABLES_VERSION};
`;

/** Where the store stands: what the next batch rises from. */
export interface Head {
  readonly versions: Versions;
  readonly history: HistoryHead;
}

const EMPTY_STORE: Head = { versions: { catalogue: 0, journal: 0 }, history: EMPTY_HISTORY };

/**
 * Opens the database and makes sure that it is a whole store of this version: SQLite's own check, our tables, and the
 * last history entry against the head. An empty file becomes a store only where `mayCreate` says so (F28).
 */
export function openDatabase(
  file: string,
  { mayCreate, maxBytes }: { readonly mayCreate: boolean; readonly maxBytes: number },
): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    const isNew = one(database, 'PRAGMA page_count') === 0;
    if (isNew && !mayCreate) {
      throw new StoreFault('store-unreadable', `The record store ${file} was here and is gone or empty.`);
    }
    if (!isNew) requireWhole(database, file);
    if (one(database, 'PRAGMA journal_mode = WAL') !== 'wal') {
      throw new StoreFault('store-unreadable', `The record store ${file} cannot be kept in WAL mode.`);
    }
    const maxPages = Math.floor(maxBytes / Number(one(database, 'PRAGMA page_size')));
    database.exec(`PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA max_page_count = ${maxPages}`);
    if (isNew) {
      database.exec(`BEGIN IMMEDIATE; ${TABLES}`);
      writeHead(database, EMPTY_STORE);
      database.exec('COMMIT');
    }
    requireChainHead(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function readHead(database: DatabaseSync): Head {
  const row = database.prepare('SELECT catalogue, journal, sequence, digest FROM head WHERE id = 1').get();
  if (row === undefined) throw new StoreFault('store-unreadable', 'The record store has no head.');
  return {
    versions: { catalogue: Number(row['catalogue']), journal: Number(row['journal']) },
    history: { sequence: Number(row['sequence']), digest: row['digest'] as HistoryHead['digest'] },
  };
}

export function writeHead(database: DatabaseSync, { versions, history }: Head): void {
  database
    .prepare('INSERT OR REPLACE INTO head (id, catalogue, journal, sequence, digest) VALUES (1, ?, ?, ?, ?)')
    .run(versions.catalogue, versions.journal, history.sequence, history.digest);
}

/** SQLite's own check of the whole file, and that it is a store of this version. */
export function requireWhole(database: DatabaseSync, file: string): void {
  if (one(database, 'PRAGMA application_id') !== APPLICATION_ID) {
    throw new StoreFault('store-unreadable', `${file} is not a record store.`);
  }
  const version = one(database, 'PRAGMA user_version');
  if (version !== TABLES_VERSION) {
    throw new StoreFault('store-version-unknown', `The record store ${file} has version ${String(version)}.`);
  }
  const verdict = one(database, 'PRAGMA quick_check(1)');
  if (verdict !== 'ok')
    throw new StoreFault('store-unreadable', `The record store ${file} is damaged: ${String(verdict)}.`);
}

function requireChainHead(database: DatabaseSync): void {
  const { history } = readHead(database);
  const rows = database.prepare('SELECT sequence, entry FROM history ORDER BY sequence DESC LIMIT 1').all();
  const last = rows.map((row) => readEntry(String(row['entry']), Number(row['sequence'])))[0];
  if ((last?.sequence ?? 0) !== history.sequence || (last !== undefined && last.digest !== history.digest)) {
    throw new StoreFault('store-unreadable', 'The history does not end where the record store says.');
  }
}

/** Reads the whole chain from its first entry. Throws `StoreFault` at the first break. */
export function verifyChain(database: DatabaseSync, from: HistoryHead): HistoryHead {
  let head = from;
  for (const row of database.prepare('SELECT sequence, entry FROM history ORDER BY sequence').iterate()) {
    head = following(head, readEntry(String(row['entry']), Number(row['sequence'])));
  }
  const stated = readHead(database).history;
  if (head.sequence !== stated.sequence || head.digest !== stated.digest) {
    throw new StoreFault('store-unreadable', 'The history does not end where the record store says.');
  }
  return head;
}

function one(database: DatabaseSync, pragma: string): unknown {
  return Object.values(database.prepare(pragma).get() ?? {})[0];
}
