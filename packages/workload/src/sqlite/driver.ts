/** What can be bound to a parameter. Named parameters are given as one object. */
export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlParameter = SqlValue | Readonly<Record<string, SqlValue>>;
export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqlChanges {
  readonly changes: number | bigint;
  readonly lastInsertRowid: number | bigint;
}

/** One prepared statement. Rows are complete when a call returns: no cursor stays open. */
export interface SqlStatement {
  run(...parameters: readonly SqlParameter[]): SqlChanges;
  get(...parameters: readonly SqlParameter[]): SqlRow | undefined;
  all(...parameters: readonly SqlParameter[]): readonly SqlRow[];
}

/** An open connection of a SQLite library, as far as guarded writes need it. */
export interface SqlConnection {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  /** The library's own `sqlite3_get_autocommit`, inverted. */
  inTransaction(): boolean;
  close(): void;
}

/** A SQLite library. The SDK opens every connection itself. */
export interface SqliteDriver {
  readonly name: string;
  /** Opens an existing file by its absolute path. */
  open(path: string, busyTimeoutMs: number): SqlConnection;
}
