import { accessSync, constants } from 'node:fs';
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
  readonly #driver: SqliteDriver;
  #raw: SqlConnection;
  #onlyRead = false;
  #shut = false;
  readonly #file: FileIdentity;
  readonly #without: Without;
  readonly #statements = new Map<string, SqlStatement>();

  /** Opens the file and refuses every way in which it might not be the database that the authority means. */
  constructor(path: string, driver: SqliteDriver, without: Without = EVERY_RULE) {
    this.path = path;
    this.#without = without;
    this.#driver = driver;
    this.#file = inspectStoreFile(path, without);
    this.#raw = this.#open();
  }

  get raw(): SqlConnection {
    return this.#raw;
  }

  /** True when the file could only be read when it was opened: a program with a user of its own before its grant. */
  get onlyRead(): boolean {
    return this.#onlyRead;
  }

  #open(): SqlConnection {
    // Before it is opened: what may be written then is opened for writing.
    this.#onlyRead = !isWritable(this.path);
    const raw = this.#driver.open(this.path, BUSY_TIMEOUT_MS);
    try {
      raw.exec('PRAGMA synchronous=FULL');
      if (!this.#without.has('query-only-outside')) raw.exec('PRAGMA query_only=1');
      this.#inspect(raw);
      return raw;
    } catch (error) {
      raw.close();
      throw error;
    }
  }

  /** Everything that was true at opening, again: asked before `warming` and before an echo. Throws `IdunnError`. */
  inspect(): void {
    this.#inspect(this.#raw);
  }

  #inspect(raw: SqlConnection): void {
    inspectStoreFile(this.path, this.#without);
    this.refuseReplacedFile();
    if (!isOpenHere(this.#file)) {
      throw new IdunnError('workload-store-replaced', `No open descriptor of this process is the file ${this.path}`);
    }
    this.#refuseForeignDatabases(raw);
    const journal = setting(raw, 'journal_mode');
    if (!this.#without.has('wal-only') && journal !== 'wal') {
      throw new IdunnError('workload-store-not-wal', `The store ${this.path} has journal_mode ${journal}`);
    }
    const locking = setting(raw, 'locking_mode');
    if (!this.#without.has('locking-mode-normal') && locking !== 'normal') {
      throw new IdunnError('workload-store-locking', `The store ${this.path} has locking_mode ${locking}`);
    }
    const tables = raw
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

  /** Closes it until `reopen`. */
  shut(): void {
    this.#onlyRead = true;
    this.#statements.clear();
    if (this.#shut) return;
    this.#shut = true;
    this.#raw.close();
  }

  /** Throws `IdunnError` when it is another file by now. */
  reopen(): void {
    this.refuseReplacedFile();
    this.#raw = this.#open();
    this.#shut = false;
  }

  close(): void {
    this.#statements.clear();
    if (!this.#shut) this.#raw.close();
  }

  #refuseForeignDatabases(raw: SqlConnection): void {
    for (const database of raw.prepare('PRAGMA database_list').all()) {
      const [name, file] = [String(database['name']), String(database['file'])];
      if (name === 'temp' || (name === 'main' && file === realPath(this.path))) continue;
      throw new IdunnError('workload-store-replaced', `The connection of ${this.path} has ${name} on ${file}`);
    }
  }
}

/**
 * Opens connections again which could only read, because their grant has opened the files: what was opened to be read
 * stays so, and SQLite would begin a reading transaction in the place of a writing one. All connections to such a file
 * are closed first, since within a process they share what they know of it. Throws what opening throws; safe to repeat.
 */
export function openForWriting(connections: readonly StoreConnection[]): void {
  const paths = new Set(connections.filter(({ onlyRead }) => onlyRead).map(({ path }) => path));
  const again = connections.filter(({ path }) => paths.has(path));
  for (const connection of again) connection.shut();
  for (const connection of again) connection.reopen();
}

const setting = (raw: SqlConnection, name: 'journal_mode' | 'locking_mode'): string =>
  String(raw.prepare(`PRAGMA ${name}`).get()?.[name]);

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
