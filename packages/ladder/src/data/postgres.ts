import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { Slot } from '../ladder/model.ts';
import type { AppData } from './app-data.ts';
import { entitled } from './entitled.ts';
import {
  inSession,
  literal,
  POSTGRES_PROGRAMS,
  type PostgresConnection,
  PostgresError,
  type PostgresPrograms,
  type PsqlSession,
  runProgram,
} from './postgres-programs.ts';
import { part } from './report.ts';
import { type Standing, standing } from './standing.ts';
import type { Watermark } from './watermark.ts';

export interface PostgresOptions {
  /** What the data is, for people. */
  readonly description: string;
  /** The database of a slot. Loading also makes `<database>_incoming` and keeps `<database>_previous`. */
  readonly locate: (slot: Slot) => PostgresConnection;
  readonly standing: Standing;
  /** Tables, `table` or `schema.table`, that tell where the data stands. Without it the watermark is unknown. */
  readonly watermark?: {
    readonly mark?: { readonly table: string; readonly column: string };
    readonly count: readonly string[];
  };
  /** What a copy must not do, by what it is called: the statements are run once over a loaded copy, all or none. */
  readonly neutralise?: readonly { readonly what: string; readonly statement: string }[];
  readonly programs?: PostgresPrograms;
}

/** The name of the dump in a staging directory. */
export const POSTGRES_DUMP = 'database.pgdump';
/** Databases are made and renamed from here. */
const MAINTENANCE_DATABASE = 'postgres';

/**
 * The data of an application in one PostgreSQL database: dumped by `pg_dump` in its custom format while the application
 * runs, with sequences and large objects, and restored into a new database that takes the place of the old one by one
 * transaction. Owners and privileges stay those of the slot: everything belongs to the user that loads it.
 */
export function postgresData(options: PostgresOptions): AppData {
  const { locate, programs = POSTGRES_PROGRAMS } = options;

  return {
    describe: () => options.description,
    ...standing(options.standing),

    dump: (slot, staging) =>
      answered(locate(slot), (connection) =>
        inSession(connection, programs, async (session) => {
          // The dump and the watermark are of one snapshot.
          await session.ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
          const [snapshot = ''] = await session.ask('SELECT pg_export_snapshot()');
          const watermark = options.watermark ? await watermarkOf(session, options.watermark) : null;
          const [tables = ''] = await session.ask(COUNT_TABLES);
          const roles = await session.ask(OWNING_ROLES);
          const argv = ['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`];
          const file = `--file=${join(staging, POSTGRES_DUMP)}`;
          await runProgram(programs.pgDump, connection, [...argv, file], programs.deadlineMs);
          const foreign = part.skipped('owners and privileges', 'they stay those of the slot that it is loaded into');
          const parts = [part.complete('database', Number(tables)), part.optional(foreign)];
          return ok({ parts, watermark, appMeta: { roles } });
        }),
      ),

    async load(clearance, slot, staging, token) {
      const may = entitled(clearance, slot, token);
      if (!may.ok) return may;
      const dump = join(staging, POSTGRES_DUMP);
      if (!existsSync(dump))
        return refused(refusal('data-unusable', `The copy cannot be loaded: ${dump} does not exist.`));
      return answered(locate(slot), (connection) =>
        inSession(maintenanceOf(connection), programs, async (maintenance) => {
          const names = namesFor(connection);
          const replaced = await begin(maintenance, names);
          const incoming = { ...connection, database: names.incoming };
          const argv = ['--exit-on-error', '--single-transaction', '--no-owner', '--no-privileges', dump];
          await runProgram(programs.pgRestore, incoming, argv, programs.deadlineMs);
          const tables = await settled(incoming, programs);
          await exchange(maintenance, names, replaced);
          return ok({ parts: [part.complete('database', tables)] });
        }),
      );
    },

    async watermark(slot): Promise<Evidence<Watermark>> {
      if (options.watermark === undefined) return unknown('no watermark is configured');
      const connection = locate(slot);
      const { watermark } = options;
      try {
        const found = await inSession(maintenanceOf(connection), programs, (session) =>
          existing(session, connection.database),
        );
        if (!found) return absent;
        return seen(await inSession(connection, programs, (session) => watermarkOf(session, watermark)));
      } catch (error) {
        if (!(error instanceof PostgresError)) throw error;
        return unknown(error.message);
      }
    },

    async neutraliseAfterLoad(clearance, slot, token) {
      const may = entitled(clearance, slot, token);
      if (!may.ok) return may;
      return answered(locate(slot), (connection) =>
        inSession(connection, programs, async (session) => {
          const done: string[] = [];
          await session.ask('BEGIN');
          for (const { what, statement } of options.neutralise ?? []) {
            const changed = (await session.perform(statement)).flatMap((line) => CHANGED.exec(line)?.[1] ?? []);
            const rows = changed.reduce((sum, count) => sum + Number(count), 0);
            done.push(`${what}: ${changed.length === 0 ? 'an unknown number of' : rows} rows`);
          }
          await session.ask('COMMIT');
          return ok(done);
        }),
      );
    },
  };
}

/** The tag of a statement that changed rows. */
const CHANGED = /^(?:DELETE|UPDATE|MERGE|INSERT 0) (\d+)$/;
const OWN_SCHEMAS = "nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'";
const COUNT_TABLES = `SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE relkind IN ('r', 'p') AND ${OWN_SCHEMAS}`;
/** Whom the tables belong to where they come from: told, and not carried over. */
const OWNING_ROLES = `SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class c JOIN pg_namespace n
  ON n.oid = c.relnamespace WHERE ${OWN_SCHEMAS} ORDER BY 1`;

const maintenanceOf = (connection: PostgresConnection): PostgresConnection => ({
  ...connection,
  database: MAINTENANCE_DATABASE,
});

interface Names {
  readonly own: string;
  readonly incoming: string;
  readonly previous: string;
}

const namesFor = ({ database }: PostgresConnection): Names => ({
  own: database,
  incoming: `${database}_incoming`,
  previous: `${database}_previous`,
});

const existing = async (session: PsqlSession, database: string): Promise<boolean> =>
  (await session.ask(`SELECT 1 FROM pg_database WHERE datname = ${literal(database)}`)).length > 0;

/** Makes the new, empty database like the one that it will replace; answers whether there is one. */
async function begin(session: PsqlSession, { own, incoming }: Names): Promise<boolean> {
  await session.ask(`DROP DATABASE IF EXISTS ${quoted(incoming)}`);
  const [like] = await session.ask(
    `SELECT format('ENCODING %L LC_COLLATE %L LC_CTYPE %L', pg_encoding_to_char(encoding), datcollate, datctype)
     FROM pg_database WHERE datname = ${literal(own)}`,
  );
  await session.ask(`CREATE DATABASE ${quoted(incoming)} TEMPLATE template0 ${like ?? ''}`);
  return like !== undefined;
}

/** What the planner needs, and the number of tables that came. */
const settled = (incoming: PostgresConnection, programs: PostgresPrograms): Promise<number> =>
  inSession(incoming, programs, async (session) => {
    await session.ask('ANALYZE');
    return Number((await session.ask(COUNT_TABLES))[0]);
  });

/** One transaction: whoever connects finds the old database or the new one. A session that is left over refuses it. */
async function exchange(session: PsqlSession, { own, incoming, previous }: Names, replaced: boolean): Promise<void> {
  await session.ask(`DROP DATABASE IF EXISTS ${quoted(previous)}`);
  await session.ask('BEGIN');
  if (replaced) await session.ask(`ALTER DATABASE ${quoted(own)} RENAME TO ${quoted(previous)}`);
  await session.ask(`ALTER DATABASE ${quoted(incoming)} RENAME TO ${quoted(own)}`);
  await session.ask('COMMIT');
}

async function watermarkOf(
  session: PsqlSession,
  { mark, count }: NonNullable<PostgresOptions['watermark']>,
): Promise<Watermark> {
  const magnitude: Record<string, number> = {};
  for (const table of count)
    magnitude[table] = Number((await session.ask(`SELECT count(*) FROM ${tableNamed(table)}`))[0]);
  const newest = mark && (await session.ask(newestOf(mark)))[0];
  return { mark: newest === undefined || newest === '' ? null : newest, magnitude };
}

/** Times as UTC instants, so that marks of two servers compare; everything else as its text. */
function newestOf({ table, column }: { readonly table: string; readonly column: string }): string {
  return `SELECT CASE WHEN pg_typeof(newest)::text LIKE 'timestamp%'
    THEN to_char(newest::text::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') ELSE newest::text END
    FROM (SELECT max(${quoted(column)}) AS newest FROM ${tableNamed(table)}) AS marks`;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const tableNamed = (name: string): string => name.split('.').map(quoted).join('.');

async function answered<T>(
  connection: PostgresConnection,
  work: (connection: PostgresConnection) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  try {
    return await work(connection);
  } catch (error) {
    if (!(error instanceof PostgresError)) throw error;
    return refused(
      refusal('data-not-reached', `The database ${connection.database} could not be used: ${error.message}.`),
    );
  }
}
