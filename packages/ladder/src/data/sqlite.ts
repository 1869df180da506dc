import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { Slot } from '../ladder/model.ts';
import type { AppData } from './app-data.ts';
import { entitled } from './entitled.ts';
import { part } from './report.ts';
import { type Standing, standing } from './standing.ts';
import type { Watermark } from './watermark.ts';

/** Which tables tell where the data stands. */
export interface SqliteWatermark {
  /** The column that moves with every write: a whole number, or a UTC instant as text. */
  readonly mark?: { readonly table: string; readonly column: string };
  /** Tables whose rows are counted. */
  readonly count: readonly string[];
}

export interface SqliteOptions {
  /** What the data is, for people. */
  readonly description: string;
  /** The database file of a slot. */
  readonly locate: (slot: Slot) => string;
  readonly standing: Standing;
  /** Without it the watermark is unknown, and everything that would discard asks for confirmation. */
  readonly watermark?: SqliteWatermark;
  /** What a copy must not do, by what it is called: each statement is run once over a loaded copy, all or none. */
  readonly neutralise?: readonly { readonly what: string; readonly statement: string }[];
}

/** The name of the database in a staging directory. */
export const SQLITE_DUMP = 'database.sqlite';

/** One step: a writer that never rests cannot make the copy begin again and again. */
const ALL_PAGES = 2_147_483_647;

/**
 * The data of an application in one SQLite database. It is copied with SQLite's own backup, in one read transaction,
 * while the application runs, and loaded by SQLite's own backup into the database of the slot: all of it in one
 * transaction.
 */
export function sqliteData(options: SqliteOptions): AppData {
  return {
    describe: () => options.description,
    ...standing(options.standing),

    async dump(slot, staging) {
      const file = options.locate(slot);
      if (!existsSync(file)) {
        const nothing = part.failed('database', `${file} does not exist`);
        return ok({ parts: [nothing], watermark: null, appMeta: {} });
      }
      return answered(file, async () => {
        const copy = join(staging, SQLITE_DUMP);
        await copyDatabase(file, copy);
        return reading(copy, (database) => {
          const damage = damageOf(database);
          const mark = damage === null && options.watermark ? watermarkOf(database, options.watermark) : null;
          const counts = Object.values(mark?.magnitude ?? {});
          const rows = counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
          const whole = damage === null ? part.complete('database', rows) : part.failed('database', damage);
          return ok({ parts: [whole], watermark: mark, appMeta: {} });
        });
      });
    },

    async load(clearance, slot, staging, token) {
      const may = entitled(clearance, slot, token);
      if (!may.ok) return may;
      const [staged, file] = [join(staging, SQLITE_DUMP), options.locate(slot)];
      if (!existsSync(staged)) return unusable(`${staged} does not exist`);
      return answered(file, async () => {
        const damage = reading(staged, damageOf);
        if (damage !== null) return unusable(`${staged} is damaged: ${damage}`);
        const incoming = `${file}.incoming`;
        await discard(incoming);
        try {
          await copyDatabase(staged, incoming);
          keepLease(incoming, file);
          await copyDatabase(incoming, file);
        } finally {
          await discard(incoming);
        }
        return ok({ parts: [part.complete('database', null)] });
      });
    },

    async watermark(slot): Promise<Evidence<Watermark>> {
      const file = options.locate(slot);
      const { watermark } = options;
      if (watermark === undefined) return unknown('no watermark is configured');
      if (!existsSync(file)) return absent;
      try {
        return seen(reading(file, (database) => watermarkOf(database, watermark)));
      } catch (error) {
        return unknown(messageOf(error));
      }
    },

    async neutraliseAfterLoad(clearance, slot, token) {
      const may = entitled(clearance, slot, token);
      if (!may.ok) return may;
      const file = options.locate(slot);
      return answered(file, async () => {
        const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
        try {
          database.exec('BEGIN IMMEDIATE');
          const done = (options.neutralise ?? []).map(({ what, statement }) => {
            const { changes } = database.prepare(statement).run();
            return `${what}: ${changes} rows`;
          });
          database.exec('COMMIT');
          return ok(done);
        } finally {
          database.close();
        }
      });
    },
  };
}

const BUSY_TIMEOUT_MS = 5_000;

function reading<T>(file: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Copies a whole database, into one that is there in one transaction. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    await backup(source, to, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

function damageOf(database: DatabaseSync): string | null {
  const found = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  return found === 'ok' ? null : String(found);
}

function watermarkOf(database: DatabaseSync, { mark, count }: SqliteWatermark): Watermark {
  const one = (statement: string): unknown => database.prepare(statement).get()?.['value'];
  const newest = mark && one(`SELECT CAST(max(${quoted(mark.column)}) AS TEXT) AS value FROM ${quoted(mark.table)}`);
  const counts = count.map((table) => [table, Number(one(`SELECT count(*) AS value FROM ${quoted(table)}`))] as const);
  return { mark: typeof newest === 'string' ? newest : null, magnitude: Object.fromEntries(counts) };
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * A copy carries the write lease of where it comes from. Before anybody can open it, the row becomes that of the slot
 * it goes to, under the next epoch and held by nobody (I1): whoever was granted before is refused, and the authority
 * of the slot grants anew. A slot that has no row gets none.
 */
function keepLease(copy: string, file: string): void {
  const database = new DatabaseSync(copy);
  try {
    if (!hasLease(database)) return;
    const own = existsSync(file)
      ? reading(file, (target) => (hasLease(target) ? leaseOf(target) : undefined))
      : undefined;
    const schema = leaseOf(database)?.['state_schema'];
    database.exec('BEGIN IMMEDIATE; DELETE FROM idunn_lease; DELETE FROM idunn_nonce');
    if (own !== undefined) {
      const { state_id: state, epoch } = own;
      const row = database.prepare('INSERT INTO idunn_lease (id, state_id, epoch, state_schema) VALUES (1, ?, ?, ?)');
      row.run(String(state), Number(epoch) + 1, String(schema ?? own['state_schema']));
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

const hasLease = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'idunn_lease'").get() !== undefined;

const leaseOf = (database: DatabaseSync) =>
  database.prepare('SELECT state_id, epoch, state_schema FROM idunn_lease WHERE id = 1').get();

async function discard(database: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(`${database}${suffix}`, { force: true });
}

/** Faults of SQLite as answers: what was there stays. */
async function answered<T>(file: string, work: () => Promise<Outcome<T>> | Outcome<T>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return refused(refusal('data-not-reached', `The database ${file} could not be used: ${messageOf(error)}.`));
  }
}

/** SQLite says "not an error" of a database that another connection holds while a backup begins. */
const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message === 'not an error' ? 'another connection holds it' : message;
};

const unusable = (because: string): Outcome<never> =>
  refused(refusal('data-unusable', `The copy cannot be loaded: ${because}.`));
