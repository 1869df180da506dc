import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { systemTimers } from '@idunn/kernel';
import { isErrno } from '../proc.ts';

/** All pages in one step: one read transaction, hence one moment of the database. */
const ALL_PAGES = 2_147_483_647;
/** How long a WAL database that recovers is waited for, in milliseconds. */
const PATIENCE_MS = 5_000;

/** A database in rollback mode is caught between two transactions: tried so often, with this pause. */
const CATCHES = 2_000;
const CATCH_PAUSE_MS = 2;
/** A database up to this size is taken into memory at once. */
const IN_MEMORY_BYTES = 67_108_864;
/** A file that was not touched for so long before a copy has other times than one that is touched during it. */
const QUIET_MS = 20;
/** So many catches that failed, until a transaction that stands open is taken for one that will not end. */
const CATCHES_BEFORE_QUIET = 50;

/** Connections stay open until this process is killed: closing the last one would checkpoint. */
const held: DatabaseSync[] = [];

/**
 * Copies a SQLite database at one moment, while its program writes, without a lock that could make a write wait or fail
 * (I7): a WAL database in a read transaction, one in rollback mode by its bytes, caught while nobody changes them. The
 * lease row that a copy carries names nobody before anything opens it.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  if (headOf(from).wal) await backUp(from, to);
  else await catchBytes(from, to);
  disown(to);
}

async function backUp(from: string, to: string): Promise<void> {
  const url = pathToFileURL(from);
  url.searchParams.set('mode', 'rw');
  const database = new DatabaseSync(url, { timeout: PATIENCE_MS });
  held.push(database);
  database.exec('PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0;');
  await backup(database, to, { rate: ALL_PAGES });
}

interface Head {
  readonly wal: boolean;
  /** Rises with each transaction of a database in rollback mode. */
  readonly changes: number;
}

function headOf(file: string): Head {
  const head = beginOf(file, 100) ?? Buffer.alloc(100);
  return { wal: head[18] === 2, changes: head.readUInt32BE(24) };
}

/**
 * Copies the bytes between two transactions, or, where one stands open and nobody writes, together with its journal:
 * that is what a loss of power would leave, and SQLite rolls it back when the copy is opened.
 */
async function catchBytes(from: string, to: string): Promise<void> {
  const journal = `${from}-journal`;
  for (let caught = 0; caught < CATCHES; caught++) {
    if (!isHot(journal)) {
      const before = `${stampOf(from)} ${headOf(from).changes}`;
      const write = take(from, to);
      if (!isHot(journal) && `${stampOf(from)} ${headOf(from).changes}` === before) return write();
    } else if (caught % CATCHES_BEFORE_QUIET === CATCHES_BEFORE_QUIET - 1) {
      const stamps = (): string => `${stampOf(from)} ${stampOf(journal)}`;
      const before = stamps();
      await pause(QUIET_MS);
      const writes = [take(from, to), take(journal, `${to}-journal`)];
      if (stamps() === before) {
        for (const write of writes) write();
        return;
      }
      unlinkIfThere(`${to}-journal`);
    }
    await pause(CATCH_PAUSE_MS);
  }
  throw new Error(`${from} is written without a pause, and is not in WAL mode: it could not be copied`);
}

/**
 * Takes a file's bytes as fast as can be, so that the moment between two transactions need not be long; a small file's
 * are written only once they have proved good. Nothing here waits for anything else of this process.
 */
function take(from: string, to: string): () => void {
  try {
    const { size } = statSync(from);
    if (size <= IN_MEMORY_BYTES) {
      const bytes = readFileSync(from);
      return () => writeFileSync(to, bytes, { mode: 0o600 });
    }
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    // A journal that went meanwhile; the stamps tell.
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  return () => {};
}

/** The first bytes of a journal whose pages may be under way into the database; zeroed or gone after the commit. */
const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex');

const isHot = (journal: string): boolean => beginOf(journal, JOURNAL_MAGIC.length)?.equals(JOURNAL_MAGIC) === true;

/** `null` when the file is not there. */
function beginOf(file: string, bytes: number): Buffer | null {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const begin = Buffer.alloc(bytes);
      readSync(descriptor, begin, 0, bytes, 0);
      return begin;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

function stampOf(file: string): string {
  const status = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? 'missing' : [status.ino, status.size, status.mtimeNs, status.ctimeNs].join(':');
}

function unlinkIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

const pause = (forMs: number): Promise<void> => new Promise((resolve) => void systemTimers.after(forMs, resolve));

/** A row that came with the copy names nobody and belongs to another state (design section 6). */
function disown(copy: string): void {
  const database = new DatabaseSync(copy, { timeout: PATIENCE_MS });
  try {
    const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'idunn_lease'").all();
    if (tables.length === 0) return;
    database.exec("UPDATE idunn_lease SET state_id = 'copy of ' || state_id, activation = NULL, release = NULL");
  } finally {
    database.close();
  }
}
