import type { SqlConnection, SqliteDriver, SqlStatement } from './driver.ts';

/** As much of better-sqlite3's class as is used; the program passes the class, so that the SDK depends on nothing. */
export type BetterSqlite3 = new (
  path: string,
  options: { readonly fileMustExist: boolean; readonly timeout: number },
) => {
  exec(sql: string): unknown;
  prepare(sql: string): unknown;
  readonly inTransaction: boolean;
  close(): unknown;
};

/** A driver from the program's own better-sqlite3: `idunn.store('journal', { driver: betterSqlite3(Database) })`. */
export function betterSqlite3(Database: BetterSqlite3): SqliteDriver {
  return {
    name: 'better-sqlite3',
    open(path, busyTimeoutMs): SqlConnection {
      const database = new Database(path, { fileMustExist: true, timeout: busyTimeoutMs });
      return {
        exec: (sql) => {
          database.exec(sql);
        },
        prepare: (sql) => database.prepare(sql) as SqlStatement,
        inTransaction: () => database.inTransaction,
        close: () => {
          database.close();
        },
      };
    },
  };
}
