import { rm } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Watermark } from './watermark.ts';

/** Which tables tell where the data stands. */
export interface SqliteWatermark {
  /** The column that moves with every write: a whole number, or a UTC instant as text. */
  readonly mark?: { readonly table: string; readonly column: string };
  /** Tables whose rows are counted. */
  readonly count: readonly string[];
}

/** One step: a writer that never rests cannot make the copy begin again and again. */
const ALL_PAGES = 2_147_483_647;

/** How long one statement waits for another connection. */
export const BUSY_TIMEOUT_MS = 5_000;

/** Reads a database that is there, and leaves it as it is. */
export function reading<T>(file: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Copies a whole database, into one that is there in one transaction. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    await backup(source, to, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

/** What SQLite finds wrong with it; `null` when nothing. */
export function damageOf(database: DatabaseSync): string | null {
  const found = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  return found === 'ok' ? null : String(found);
}

/** Where the data stands, by the tables that the application names. */
export function watermarkOf(database: DatabaseSync, { mark, count }: SqliteWatermark): Watermark {
  const one = (statement: string): unknown => database.prepare(statement).get()?.['value'];
  const newest = mark && one(`SELECT CAST(max(${quoted(mark.column)}) AS TEXT) AS value FROM ${quoted(mark.table)}`);
  const counts = count.map((table) => [table, Number(one(`SELECT count(*) AS value FROM ${quoted(table)}`))] as const);
  return { mark: typeof newest === 'string' ? newest : null, magnitude: Object.fromEntries(counts) };
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Removes a database of ours with its side files. */
export async function discard(database: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(`${database}${suffix}`, { force: true });
}

/** SQLite says "not an error" of a database that another connection holds while a backup begins. */
export const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message === 'not an error' ? 'another connection holds it' : message;
};
