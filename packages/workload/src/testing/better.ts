import { createRequire } from 'node:module';
import { type BetterSqlite3, betterSqlite3 } from '../sqlite/better-sqlite3.ts';

/** The repository's better-sqlite3, which brings no types of its own. */
export const betterDriver = betterSqlite3(createRequire(import.meta.url)('better-sqlite3') as BetterSqlite3);
