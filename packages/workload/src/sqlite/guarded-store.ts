import { types } from 'node:util';
import { IdunnError, NotWriter } from '../errors.ts';
import type { Row, StoreConnection } from './connection.ts';
import { EVERY_RULE, type Without } from './rules.ts';
import { type GuardedDatabase, Scope } from './scope.ts';

/** The grant that a write is made under. */
export interface WriteGrant {
  readonly stateId: string;
  readonly epoch: number;
  readonly activation: string;
}

/** Who knows whether this program may write, and is told what became of it. */
export interface Permit {
  /** The grant; throws `NotWriter` while there is none. */
  current(): WriteGrant;
  /** The row named somebody else: never again under this epoch or a lower one. */
  refusedByRow(epoch: number): void;
  /** A guarded write was committed. */
  committed(epoch: number): void;
}

export interface GuardedStore {
  readonly id: string;
  /**
   * One guarded transaction: what `body` does is committed, durable and under this activation's lease, when this
   * returns its result; nothing happened when it throws. Synchronous. Throws `NotWriter` before effect, `IdunnError`
   * for a broken rule, and what `body` or SQLite threw. Only `workload-outcome-unknown` leaves open whether it was
   * committed.
   */
  write<T>(body: (database: GuardedDatabase) => T): T;
  /** One read transaction on a consistent snapshot; allowed at any time. */
  read<T>(body: (database: GuardedDatabase) => T): T;
}

export const names = (row: Row | null, grant: WriteGrant): boolean =>
  row !== null && row.stateId === grant.stateId && row.epoch === grant.epoch && row.activation === grant.activation;

/** Guarded access through one connection (I1). */
export class ConnectionStore implements GuardedStore {
  readonly id: string;
  readonly connection: StoreConnection;
  readonly #permit: Permit;
  readonly #processId: () => number;
  readonly #openedBy: number;
  readonly #without: Without;
  #busy = false;

  constructor(
    id: string,
    connection: StoreConnection,
    permit: Permit,
    processId: () => number,
    without: Without = EVERY_RULE,
  ) {
    this.id = id;
    this.connection = connection;
    this.#permit = permit;
    this.#processId = processId;
    this.#openedBy = processId();
    this.#without = without;
  }

  write<T>(body: (database: GuardedDatabase) => T): T {
    this.#refuseMisuse(body);
    const grant = this.#permit.current();
    this.connection.refuseReplacedFile();
    const result = this.#transaction('write', () => this.#begin(grant), body);
    this.#permit.committed(grant.epoch);
    return result;
  }

  read<T>(body: (database: GuardedDatabase) => T): T {
    this.#refuseMisuse(body);
    return this.#transaction('read', () => this.connection.raw.exec('BEGIN'), body);
  }

  /** Whether the row names `grant`, read inside a writing transaction: nobody can change it at that moment. */
  isNamed(grant: WriteGrant): boolean {
    this.#refuseCarried();
    this.connection.refuseReplacedFile();
    try {
      this.#beginImmediate();
      return names(this.connection.row(), grant);
    } finally {
      this.#settle();
    }
  }

  /** The transaction first, then the comparison: a lease that moves now waits for our commit (I1). */
  #begin(grant: WriteGrant): void {
    if (this.#without.has('compare-inside-the-transaction')) {
      this.#refuseOtherRow(grant);
      this.connection.raw.exec('PRAGMA query_only=0; BEGIN');
      return;
    }
    this.#beginImmediate();
    this.#refuseOtherRow(grant);
  }

  #beginImmediate(): void {
    // SQLite would begin a reading transaction in its place.
    if (this.connection.onlyRead) throw new NotWriter(`The store ${this.id} may only be read by this process`);
    this.connection.raw.exec('PRAGMA query_only=0; BEGIN IMMEDIATE');
  }

  #refuseOtherRow(grant: WriteGrant): void {
    const row = this.connection.row();
    if (names(row, grant)) return;
    this.#permit.refusedByRow(grant.epoch);
    throw new NotWriter(`The lease row of ${this.id} names ${row?.activation ?? 'nobody'} under epoch ${row?.epoch}`);
  }

  #transaction<T>(mode: 'read' | 'write', begin: () => void, body: (database: GuardedDatabase) => T): T {
    const scope = new Scope(this.connection, mode, this.#without);
    this.#busy = true;
    try {
      begin();
      const result = body(scope);
      if (!this.#without.has('synchronous-callback') && isThenable(result)) throw asynchronous(this.id);
      scope.refuseLost();
      if (mode === 'write') this.#commit();
      return result;
    } finally {
      scope.end();
      this.#busy = false;
      this.#settle();
    }
  }

  /** `query_only` comes back before the commit, so that no instant is without a guard. */
  #commit(): void {
    const guard = this.#without.has('query-only-outside') ? '' : 'PRAGMA query_only=1; ';
    try {
      this.connection.raw.exec(`${guard}COMMIT`);
    } catch (cause) {
      throw new IdunnError('workload-outcome-unknown', `The commit to ${this.id} failed`, { cause });
    }
  }

  /** Whatever happened, the connection ends without a transaction and `query_only`. */
  #settle(): void {
    const { raw } = this.connection;
    if (!this.#without.has('query-only-outside')) raw.exec('PRAGMA query_only=1');
    if (raw.inTransaction()) raw.exec('ROLLBACK');
  }

  #refuseMisuse(body: unknown): void {
    this.#refuseCarried();
    if (this.#busy && !this.#without.has('no-nesting')) {
      throw new IdunnError('workload-write-nested', `A transaction on ${this.id} is already open`);
    }
    if (!this.#without.has('synchronous-callback') && types.isAsyncFunction(body)) throw asynchronous(this.id);
  }

  /** SQLite's locks belong to the process that took them; a forked child would share and break them (I1). */
  #refuseCarried(): void {
    if (this.#without.has('not-carried-over-a-fork')) return;
    const processId = this.#processId();
    if (processId === this.#openedBy) return;
    const reason = `Process ${processId} uses a connection to ${this.id} that process ${this.#openedBy} opened`;
    throw new IdunnError('workload-write-carried', reason);
  }
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

const asynchronous = (store: string): IdunnError =>
  new IdunnError('workload-write-async', `The callback for ${store} is asynchronous: its end is not the transaction's`);
