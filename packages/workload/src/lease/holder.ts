import type { Machine } from '../edge/machine.ts';
import { messageOf, NotWriter } from '../errors.ts';
import { openForWriting } from '../sqlite/connection.ts';
import type { ConnectionStore, Permit, WriteGrant } from '../sqlite/guarded-store.ts';
import { EVERY_RULE, type Without } from '../sqlite/rules.ts';
import {
  isTermOver,
  isWithdrawn,
  type Lease,
  NO_LEASE,
  onGrant,
  onRelinquish,
  onRowRefused,
  onStillNamed,
  writingEpoch,
} from './lease.ts';

/** How soon a row that could not be read is asked for again. */
const ROW_RETRY_MS = 100;

export interface Grant {
  readonly stateId: string;
  readonly epoch: number;
}

export type Relinquishment = {
  readonly requestId: string;
  readonly epoch: number;
  /** How long to wait for the consequence, `null` without end. */
  readonly termMs: number | null;
};

export interface LeaseEvents {
  /** A new grant was taken and every open store names it. */
  readonly granted: (grant: Grant) => void;
  /** Whether it may write has changed in another way. */
  readonly changed: () => void;
  /** The first commit under an epoch. */
  readonly firstWrite: (epoch: number, atMs: number) => void;
  readonly log: (line: string) => void;
}

/** Keeps the lease of one activation over all its open stores, and permits their writes. */
export class LeaseHolder implements Permit {
  readonly #activation: string;
  readonly #stateId: string | null;
  readonly #stores: readonly ConnectionStore[];
  readonly #machine: Machine;
  readonly #events: LeaseEvents;
  readonly #without: Without;
  #lease: Lease = NO_LEASE;
  #lastWriteAtMs: number | null = null;
  #firstWriteSaid = 0;
  #stopTimer = (): void => {};

  /** `stores` is the live list of what the program has opened. */
  constructor(
    identity: { readonly activation: string; readonly stateId: string | null },
    stores: readonly ConnectionStore[],
    machine: Machine,
    events: LeaseEvents,
    without: Without = EVERY_RULE,
  ) {
    this.#activation = identity.activation;
    this.#stateId = identity.stateId;
    this.#stores = stores;
    this.#machine = machine;
    this.#events = events;
    this.#without = without;
  }

  get epoch(): number | null {
    return writingEpoch(this.#lease);
  }

  get lastWriteAtMs(): number | null {
    return this.#lastWriteAtMs;
  }

  current(): WriteGrant {
    if (this.#lease.kind === 'writing') return this.#grantOf(this.#lease.epoch);
    const why = this.#lease.kind === 'none' ? 'No grant is held' : `Epoch ${this.#lease.epoch} was relinquished`;
    throw new NotWriter(why);
  }

  committed(epoch: number): void {
    this.#lastWriteAtMs = this.#machine.monotonicMs();
    if (this.#firstWriteSaid === epoch) return;
    this.#firstWriteSaid = epoch;
    this.#events.firstWrite(epoch, this.#lastWriteAtMs);
  }

  refusedByRow(epoch: number): void {
    if (this.#without.has('row-refusal-is-final')) return;
    this.#events.log(`the lease row no longer names this activation under epoch ${epoch}`);
    this.#become(onRowRefused(this.#lease, epoch));
  }

  /**
   * Takes a grant; the row is looked at before the program is told. Answers whether the message was for this program.
   */
  grant(grant: Grant): 'taken' | 'stale' {
    if (grant.stateId !== this.#stateId) return 'stale';
    const answer = onGrant(this.#lease, grant.epoch);
    switch (answer.kind) {
      case 'stale':
        this.#events.log(`dropped a grant of epoch ${grant.epoch}: ${answer.floor} was held or refused before`);
        return 'stale';
      case 'repeat':
        return 'taken';
      case 'resume':
        this.#resume();
        return 'taken';
      case 'take':
        this.#take(grant, answer.next);
        return 'taken';
    }
  }

  /**
   * From this call on new writes are refused before effect. Guarded writes are synchronous, so none is in flight here.
   * Answers whether that epoch was held.
   */
  relinquish(request: Relinquishment): boolean {
    if (this.#lease.kind === 'none') this.#stopTimer(); // A grant that is still being looked at is off as well.
    const termEndsAtMs = request.termMs === null ? null : this.#machine.monotonicMs() + request.termMs;
    const next = onRelinquish(this.#lease, { epoch: request.epoch, by: request.requestId, termEndsAtMs });
    if (next === this.#lease) return false;
    this.#become(next);
    if (request.termMs === null) this.#stopTimer();
    else this.#later(request.termMs);
    return true;
  }

  /** The handover is off. Answers whether this program writes now. */
  withdraw(relinquishId: string): boolean {
    if (isWithdrawn(this.#lease, relinquishId)) this.#resume();
    return this.epoch !== null;
  }

  stop(): void {
    this.#stopTimer();
  }

  #take(grant: Grant, next: Lease): void {
    this.#stopTimer();
    let elsewhere: ConnectionStore | undefined;
    try {
      openForWriting(this.#stores.map(({ connection }) => connection));
      elsewhere = this.#stores.find((store) => !this.#agrees(store, grant.epoch));
    } catch (error) {
      this.#askAgain(error, () => this.grant(grant));
      return;
    }
    if (elsewhere !== undefined) {
      this.#events.log(`the lease row of ${elsewhere.id} does not name this activation under epoch ${grant.epoch}`);
      this.#become(onRowRefused(this.#lease, grant.epoch));
      return;
    }
    this.#lease = next;
    this.#events.granted(grant);
  }

  /** A read suffices to answer a grant: every write compares again in its own transaction. */
  #agrees(store: ConnectionStore, epoch: number): boolean {
    const row = store.connection.row();
    return row?.epoch === epoch && row.activation === this.#activation && row.stateId === this.#stateId;
  }

  /** Goes on only if every open store, read inside a writing transaction, still names this activation (I1). */
  #resume(): void {
    if (this.#lease.kind !== 'relinquished') return;
    const grant = this.#grantOf(this.#lease.epoch);
    try {
      const named = this.#without.has('resume-re-reads-the-row') || this.#stores.every((store) => store.isNamed(grant));
      this.#become(named ? onStillNamed(this.#lease) : onRowRefused(this.#lease, grant.epoch));
    } catch (error) {
      this.#askAgain(error, () => this.#resume());
    }
  }

  /** A row that cannot be read is neither a yes nor a no (I10): nothing changes, and it is asked again soon. */
  #askAgain(error: unknown, ask: () => void): void {
    this.#events.log(`the lease row cannot be read: ${messageOf(error)}`);
    this.#stopTimer();
    this.#stopTimer = this.#machine.after(ROW_RETRY_MS, ask);
  }

  #later(termMs: number): void {
    this.#stopTimer();
    this.#stopTimer = this.#machine.after(termMs, () => {
      if (isTermOver(this.#lease, this.#machine.monotonicMs())) this.#resume();
      else if (this.#lease.kind === 'relinquished' && this.#lease.termEndsAtMs !== null) {
        this.#later(Math.max(1, this.#lease.termEndsAtMs - this.#machine.monotonicMs())); // The timer came early.
      }
    });
  }

  #become(next: Lease): void {
    if (next === this.#lease) return;
    this.#lease = next;
    this.#events.changed();
  }

  #grantOf(epoch: number): WriteGrant {
    return { stateId: this.#stateId ?? '', epoch, activation: this.#activation };
  }
}
