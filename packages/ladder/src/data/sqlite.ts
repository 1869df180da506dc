import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { Slot } from '../ladder/model.ts';
import type { AppData } from './app-data.ts';
import { entitled } from './entitled.ts';
import { part } from './report.ts';
import {
  BUSY_TIMEOUT_MS,
  copyDatabase,
  damageOf,
  discard,
  messageOf,
  reading,
  type SqliteWatermark,
  watermarkOf,
} from './sqlite-database.ts';
import { keepLease } from './sqlite-lease.ts';
import { type Standing, standing } from './standing.ts';
import type { Watermark } from './watermark.ts';

export interface SqliteOptions {
  /** What the data is, for people. */
  readonly description: string;
  /** The database file of a slot. */
  readonly locate: (slot: Slot) => string;
  readonly standing: Standing;
  /** Without it the watermark is unknown, and everything that would discard asks for confirmation. */
  readonly watermark?: SqliteWatermark;
  /** What a copy must not do, by what it is called: the statements are run once over a loaded copy, all or none. */
  readonly neutralise?: readonly { readonly what: string; readonly statement: string }[];
}

/** The name of the database in a staging directory. */
export const SQLITE_DUMP = 'database.sqlite';

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
          const changes = (): number => Number(database.prepare('SELECT total_changes() AS n').get()?.['n']);
          const done = (options.neutralise ?? []).map(({ what, statement }) => {
            const before = changes();
            // A prepared statement would be the first one of the line; what comes behind it would never be run.
            database.exec(statement);
            return `${what}: ${changes() - before} rows`;
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

/** Faults of SQLite as answers: what was there stays. */
async function answered<T>(file: string, work: () => Promise<Outcome<T>> | Outcome<T>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return refused(refusal('data-not-reached', `The database ${file} could not be used: ${messageOf(error)}.`));
  }
}

const unusable = (because: string): Outcome<never> =>
  refused(refusal('data-unusable', `The copy cannot be loaded: ${because}.`));
