import { IdunnError } from '../errors.ts';
import type { StoreConnection } from './connection.ts';
import type { SqlChanges, SqlParameter, SqlRow, SqlStatement } from './driver.ts';
import { EVERY_RULE, type Without } from './rules.ts';
import { refuseStatements } from './statements.ts';

/** What a transaction's callback may use; the part that node:sqlite and better-sqlite3 have in common. */
export interface GuardedDatabase {
  /** One statement; remembered by its text, so preparing it again costs nothing. */
  prepare(sql: string): SqlStatement;
  /** One or more statements without parameters and without rows. */
  exec(sql: string): void;
}

/** The life of one transaction: each statement is scanned before it runs, and checked for what it left behind. */
export class Scope implements GuardedDatabase {
  readonly #connection: StoreConnection;
  readonly #mode: 'read' | 'write';
  readonly #without: Without;
  #state: 'open' | 'lost' | 'ended' = 'open';
  #cause: unknown;

  constructor(connection: StoreConnection, mode: 'read' | 'write', without: Without = EVERY_RULE) {
    this.#connection = connection;
    this.#mode = mode;
    this.#without = without;
  }

  prepare(sql: string): SqlStatement {
    this.#refuseClosed();
    const statement = this.#connection.statement(sql, () => {
      this.#refuse(sql, true);
    });
    return {
      run: (...parameters: readonly SqlParameter[]): SqlChanges => this.#step(() => statement.run(...parameters)),
      get: (...parameters: readonly SqlParameter[]): SqlRow | undefined =>
        this.#step(() => statement.get(...parameters)),
      all: (...parameters: readonly SqlParameter[]): readonly SqlRow[] =>
        this.#step(() => statement.all(...parameters)),
    };
  }

  exec(sql: string): void {
    this.#refuse(sql, false);
    this.#step(() => {
      this.#connection.raw.exec(sql);
    });
  }

  /** Throws when a statement ended the transaction, also when the callback swallowed that error. */
  refuseLost(): void {
    if (this.#state === 'lost') throw this.#lost();
  }

  end(): void {
    if (this.#state === 'open' && !this.#without.has('scope-ends')) this.#state = 'ended';
  }

  #step<T>(act: () => T): T {
    this.#refuseClosed();
    let result: T;
    try {
      result = act();
    } catch (error) {
      this.#refuseEnded(error);
      throw error;
    }
    this.#refuseEnded(undefined);
    return result;
  }

  /** A conflict clause, a trigger's RAISE(ROLLBACK) or a full disk ends the transaction under our feet (I1). */
  #refuseEnded(cause: unknown): void {
    if (this.#connection.raw.inTransaction() || this.#without.has('transaction-still-own')) return;
    this.#state = 'lost';
    this.#cause = cause;
    this.#connection.raw.exec('PRAGMA query_only=1');
    throw this.#lost();
  }

  #lost(): IdunnError {
    const reason = `A statement ended the transaction on ${this.#connection.path}`;
    return new IdunnError('workload-transaction-lost', reason, { cause: this.#cause });
  }

  #refuseClosed(): void {
    this.refuseLost();
    if (this.#state === 'ended') {
      throw new IdunnError('workload-scope-ended', `The transaction on ${this.#connection.path} is over`);
    }
  }

  #refuse(sql: string, one: boolean): void {
    if (this.#without.has('statements-scanned')) return;
    const reason = refuseStatements(sql, this.#mode, one);
    if (reason !== null) throw new IdunnError('workload-statement-refused', `Refused: ${reason}`);
  }
}
