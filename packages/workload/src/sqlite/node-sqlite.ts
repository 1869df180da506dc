import { DatabaseSync } from 'node:sqlite';
import type { SqlConnection, SqliteDriver, SqlStatement } from './driver.ts';

/** The SQLite that Node brings. */
export const nodeSqlite: SqliteDriver = {
  name: 'node:sqlite',
  open(path, busyTimeoutMs): SqlConnection {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    return {
      exec: (sql) => {
        database.exec(sql);
      },
      prepare: (sql) => database.prepare(sql) as unknown as SqlStatement,
      inTransaction: () => database.isTransaction,
      close: () => {
        database.close();
      },
    };
  },
};
