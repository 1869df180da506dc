export { ERROR_CODES, IdunnError, type IdunnErrorCode, NotWriter } from './errors.ts';
export { type ConnectOptions, type GrantHandler, Idunn, type RelinquishHandler } from './idunn.ts';
export type { Endpoint } from './launch/document.ts';
export type { Capability, PresenceState } from './presence/presence.ts';
export { type BetterSqlite3, betterSqlite3 } from './sqlite/better-sqlite3.ts';
export type {
  SqlChanges,
  SqlConnection,
  SqliteDriver,
  SqlParameter,
  SqlRow,
  SqlStatement,
  SqlValue,
} from './sqlite/driver.ts';
export type { GuardedStore } from './sqlite/guarded-store.ts';
export { nodeSqlite } from './sqlite/node-sqlite.ts';
export type { GuardedDatabase } from './sqlite/scope.ts';
export type { StandaloneOptions } from './standalone.ts';
export type { StopHandler } from './stop.ts';
