import { IdunnError } from '../errors.ts';
import type { SqlConnection, SqliteDriver, SqlStatement } from './driver.ts';
import { EVERY_RULE, type Without } from './rules.ts';
import { type FileIdentity, identityAt, inspectStoreFile, isOpenHere, realPath, sameFile } from './store-file.ts';

/** How long a write waits for the database when another connection writes; SQLite waits inside the call. */
export const BUSY_TIMEOUT_MS = 5_000;
/** Prepared statements kept for each connection, by their text. */
const STATEMENT_LIMIT = 256;

/** The lease row as a store carries it. */
export interface Row {
  readonly stateId: string;
  readonly epoch: number;
  readonly activation: string | null;
}

/**
 * One connection that the SDK opened, with the file it is open on. Outside a guarded transaction it is `query_only`.
 */
export class StoreConnection {
  readonly path: string;
  readonly raw: SqlConnection;
  readonly #file: FileIdentity;
  readonly #without: Without;
  readonly #statements = new Map<string, SqlStatement>();

  /** Opens the file and refuses every way in which it might not be the database that the authority means. */
  constructor(path: string, driver: SqliteDriver, without: Without = EVERY_RULE) {
    this.path = path;
    this.#without = without;
    this.#file = inspectStoreFile(path, without);
    this.raw = driver.open(path, BUSY_TIMEOUT_MS);
    try {
      this.raw.exec('PRAGMA synchronous=FULL');
      if (!without.has('query-only-outside')) this.raw.exec('PRAGMA query_only=1');
      this.inspect();
    } catch (error) {
      this.raw.close();
      throw error;
    }
  }

  /** Everything that was true at opening, again: asked before `warming` and before an echo. Throws `IdunnError`. */
  inspect(): void {
    inspectStoreFile(this.path, this.#without);
    this.refuseReplacedFile();
    if (!isOpenHere(this.#file)) {
      throw new IdunnError('workload-store-replaced', `No open descriptor of this process is the file ${this.path}`);
    }
    this.#refuseForeignDatabases();
    const journal = this.#setting('journal_mode');
    if (!this.#without.has('wal-only') && journal !== 'wal') {
      throw new IdunnError('workload-store-not-wal', `The store ${this.path} has journal_mode ${journal}`);
    }
    const locking = this.#setting('locking_mode');
    if (!this.#without.has('locking-mode-normal') && locking !== 'normal') {
      throw new IdunnError('workload-store-locking', `The store ${this.path} has locking_mode ${locking}`);
    }
    const tables = this.raw
      .prepare(
        "SELECT count(*) AS found FROM sqlite_schema WHERE type = 'table' AND name IN ('idunn_lease', 'idunn_nonce')",
      )
      .get();
    if (Number(tables?.['found']) !== 2) {
      throw new IdunnError('workload-store-without-lease', `The store ${this.path} carries no lease row`);
    }
  }

  /** A file put in the place of the open one carries another row: writes here would be seen by nobody (I1). */
  refuseReplacedFile(): void {
    if (!this.#without.has('same-file') && !sameFile(identityAt(this.path), this.#file)) {
      throw new IdunnError('workload-store-replaced', `Another file has taken the place of the store ${this.path}`);
    }
  }

  /** The lease row; `null` when there is none. */
  row(): Row | null {
    const row = this.statement('SELECT state_id, epoch, activation FROM idunn_lease WHERE id = 1').get();
    if (row === undefined) return null;
    const activation = row['activation'];
    return {
      stateId: String(row['state_id']),
      epoch: Number(row['epoch']),
      activation: typeof activation === 'string' ? activation : null,
    };
  }

  /** The nonce beside the row, read through this very connection; `null` when there is none. */
  nonce(): string | null {
    const row = this.statement('SELECT nonce FROM idunn_nonce WHERE id = 1').get();
    return row === undefined ? null : String(row['nonce']);
  }

  /**
   * A prepared statement, remembered by its text; `admit` may refuse a new one. The oldest is forgotten at the limit.
   */
  statement(sql: string, admit: () => void = () => {}): SqlStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    admit();
    const oldest = this.#statements.keys().next();
    if (this.#statements.size >= STATEMENT_LIMIT && oldest.done !== true) this.#statements.delete(oldest.value);
    const fresh = this.raw.prepare(sql);
    this.#statements.set(sql, fresh);
    return fresh;
  }

  close(): void {
    this.#statements.clear();
    this.raw.close();
  }

  #refuseForeignDatabases(): void {
    for (const database of this.raw.prepare('PRAGMA database_list').all()) {
      const [name, file] = [String(database['name']), String(database['file'])];
      if (name === 'temp' || (name === 'main' && file === realPath(this.path))) continue;
      throw new IdunnError('workload-store-replaced', `The connection of ${this.path} has ${name} on ${file}`);
    }
  }

  #setting(name: 'journal_mode' | 'locking_mode'): string {
    return String(this.raw.prepare(`PRAGMA ${name}`).get()?.[name]);
  }
}
