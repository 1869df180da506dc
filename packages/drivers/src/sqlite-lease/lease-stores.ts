import { dirname, join } from 'node:path';
import type { LeasePort, LeaseRow, LeaseRows, OwnerClaim, SwapAnswer, SwapRequest } from '@idunn/authority';
import {
  absent,
  type Clock,
  type Evidence,
  type Outcome,
  ok,
  type Refusal,
  refusal,
  refused,
  seen,
  type Timers,
  unknown,
} from '@idunn/kernel';
import type { StateContract, StateStore } from '@idunn/release';
import { claimedAbove, readClaimFile, readOwnerClaim, syncDirectory, writeOwnerClaim } from './claim-file.ts';
import { inspectState } from './inspect-state.ts';
import { formerCarriers, leaseCarriers } from './lease-carriers.ts';
import { type Place, placeOf } from './place.ts';
import { isBusy, type NextRow, type StoreConnection } from './store-connection.ts';
import { createStoreFile, inspectRoot, type Owner } from './store-file.ts';
import { WarmConnections } from './warm-connections.ts';
import { writersOf } from './write-lock.ts';

/** How long `prepare`, `read` and `writeNonce` try for a database that others use. */
const PATIENCE_MS = 2_000;
/** For so long the lock is asked for without a pause; afterwards once in a millisecond. */
const EAGER_MS = 200;
const PAUSE_MS = 1;

/** One step of a swap: rows at `start` become `next`, rows in `pass` are further on already. */
interface Step {
  readonly start: Place;
  readonly pass: readonly Place[];
  readonly next: NextRow;
}

/** Thrown within: the deadline passed while somebody held the store. */
class Busy extends Error {
  readonly store: string;
  constructor(store: string) {
    super(`the store ${store} is held`);
    this.store = store;
  }
}

/**
 * The lease port itself, blocking where SQLite and fsync block; `createSqliteLease` runs it off the main loop. Every
 * write is one `BEGIN IMMEDIATE` without a busy timeout, tried again and again until its deadline.
 */
export class LeaseStores implements LeasePort {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #timers: Timers;
  readonly #warm = new WarmConnections();

  constructor(clock: Pick<Clock, 'monotonicMs'>, timers: Timers) {
    this.#clock = clock;
    this.#timers = timers;
  }

  async prepare(state: StateContract): Promise<Outcome<LeaseRows>> {
    const owner = inspectRoot(state.root);
    if (!owner.ok) return owner;
    const above = claimedAbove(state.root);
    if (above !== null) return overlapping(state, above);
    const there = inspectState(state);
    if (!there.ok) return there;
    return this.#attempt(state, async () => {
      const rows: Record<string, LeaseRow> = {};
      // Existing rows first: a store that joins the state takes over the row of the others.
      for (const store of leaseCarriers(state).toSorted(
        (a, b) => Number(there.value.has(b.id)) - Number(there.value.has(a.id)),
      )) {
        const row = await this.#prepareStore(state, store, there.value, owner.value, Object.values(rows));
        if (!row.ok) return row;
        rows[store.id] = row.value;
      }
      return ok(await this.#takeOver(state, rows));
    });
  }

  async read(state: StateContract): Promise<Evidence<LeaseRows>> {
    try {
      const there = inspectState(state);
      if (!there.ok) return unknown(there.refusal.reason);
      if (there.value.size === 0 && leaseCarriers(state).length > 0) return absent;
      return await this.#rows(state);
    } catch (error) {
      return unknown(String(error));
    }
  }

  async writeNonce(state: StateContract, nonce: string): Promise<Outcome<'written'>> {
    return this.#attempt(state, async () => {
      const deadlineMs = this.#clock.monotonicMs() + PATIENCE_MS;
      for (const store of leaseCarriers(state)) {
        await this.#locked([store], state, deadlineMs, ([connection]) => connection?.writeNonce(nonce));
      }
      return ok('written');
    });
  }

  async swap(state: StateContract, request: SwapRequest): Promise<SwapAnswer> {
    if (request.to.epoch <= request.from.epoch) throw new RangeError('an epoch only rises');
    const deadlineMs = this.#clock.monotonicMs() + request.deadlineMs;
    const stores = leaseCarriers(state);
    try {
      const moved =
        stores.length <= 1
          ? await this.#move(stores, state, request, deadlineMs, { start: 'from', pass: ['to'], next: request.to })
          : await this.#moveSeveral(stores, state, request, deadlineMs);
      if (moved) return { kind: 'swapped' };
      const rows = await this.#rows(state);
      return rows.kind === 'seen' ? { kind: 'differs', rows: rows.value } : { kind: 'unknown', because: whyNot(rows) };
    } catch (error) {
      return error instanceof Busy ? { kind: 'busy', store: error.store } : { kind: 'unknown', because: String(error) };
    }
  }

  async sync(state: StateContract): Promise<Outcome<'durable'>> {
    try {
      for (const store of leaseCarriers(state)) {
        this.#open(state, store).sync();
        syncDirectory(dirname(pathOf(state, store)));
      }
      return ok('durable');
    } catch (error) {
      return refused(refusal('lease-not-durable', `The lease row of ${state.stateId}: ${String(error)}.`));
    }
  }

  async readClaim(state: StateContract): Promise<Evidence<OwnerClaim>> {
    return readOwnerClaim(state.root);
  }

  async writeClaim(state: StateContract, claim: OwnerClaim, over: OwnerClaim | null): Promise<Outcome<'written'>> {
    return writeOwnerClaim(state, claim, over);
  }

  close(): void {
    this.#warm.close();
  }

  /**
   * First all are revoked under their locks together, the last commit being the fence; only then each is granted
   * (I1).
   */
  async #moveSeveral(
    stores: readonly StateStore[],
    state: StateContract,
    request: SwapRequest,
    deadlineMs: number,
  ): Promise<boolean> {
    const revoked = { ...request.to, activation: null, release: null };
    const revoke: Step = { start: 'from', pass: ['revoked', 'to'], next: revoked };
    if (!(await this.#move(stores, state, request, deadlineMs, revoke))) return false;
    for (const store of stores) {
      const grant: Step = { start: 'revoked', pass: ['to'], next: request.to };
      if (!(await this.#move([store], state, request, deadlineMs, grant))) return false;
    }
    return true;
  }

  /**
   * One step for the rows of all these stores, under their locks. False, and nothing written, when one is elsewhere.
   */
  #move(
    stores: readonly StateStore[],
    state: StateContract,
    request: SwapRequest,
    deadlineMs: number,
    { start, pass, next }: Step,
  ): Promise<boolean> {
    return this.#locked(stores, state, deadlineMs, (connections) => {
      const placed = connections.map((connection) => {
        const row = connection.row();
        return { connection, place: row === null ? ('elsewhere' as const) : placeOf(row, state.stateId, request) };
      });
      if (!placed.every(({ place }) => place === start || pass.includes(place))) return false;
      for (const { connection, place } of placed) {
        if (place === start) connection.update(next);
      }
      return true;
    });
  }

  async #rows(state: StateContract): Promise<Evidence<LeaseRows>> {
    const deadlineMs = this.#clock.monotonicMs() + PATIENCE_MS;
    const rows: Record<string, LeaseRow> = {};
    for (const store of leaseCarriers(state)) {
      const row = await this.#patiently(store, deadlineMs, () => this.#open(state, store).row());
      if (row === null) return unknown(`the store ${store.id} has no lease row`);
      rows[store.id] = row;
    }
    return seen(rows);
  }

  async #prepareStore(
    state: StateContract,
    store: StateStore,
    there: ReadonlySet<string>,
    owner: Owner,
    others: readonly LeaseRow[],
  ): Promise<Outcome<LeaseRow>> {
    if (!there.has(store.id)) createStoreFile(state.root, store.path, owner);
    const deadlineMs = this.#clock.monotonicMs() + PATIENCE_MS;
    const path = pathOf(state, store);
    const mode = await this.#patiently(store, deadlineMs, () => {
      const connection = this.#open(state, store);
      if (connection.empty) connection.enterWal();
      return connection.journalMode();
    });
    if (mode !== 'wal') return refused(refusal('store-not-wal', `The store ${path} is in journal mode ${mode}.`));
    const row = await this.#patiently(store, deadlineMs, () => this.#open(state, store).row());
    if (row !== null) return row.stateId === state.stateId ? ok(row) : foreign(path, row, state);
    const claim = readClaimFile(state.root);
    if (claim.kind === 'unknown' || (claim.kind === 'seen' && claim.value.stores.includes(store.id))) {
      return refused(refusal('lease-row-missing', `The store ${path} has no lease row, and it had one.`));
    }
    const [first] = others;
    const next: NextRow = first ?? { epoch: 0, activation: null, release: null, stateSchema: state.schema };
    await this.#locked([store], state, deadlineMs, ([connection]) => {
      if (connection?.row() === null) connection.createRow(state.stateId, next);
    });
    return ok({ stateId: state.stateId, nonce: null, ...pick(next) });
  }

  /**
   * A program that begins, or ceases, to compare rows has its row elsewhere from now on. Who held the state there holds
   * it here (I1), and the epoch goes on.
   */
  async #takeOver(state: StateContract, rows: LeaseRows): Promise<LeaseRows> {
    const left = await this.#rowLeft(state);
    if (left === null || !Object.values(rows).every((row) => row.epoch < left.epoch)) return rows;
    const carriers = leaseCarriers(state);
    await this.#locked(carriers, state, this.#clock.monotonicMs() + PATIENCE_MS, (connections) => {
      for (const connection of connections) connection.update(left);
    });
    return Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, { ...row, ...pick(left) }]));
  }

  /** The newest row that the claim says lies where this state's rows do not. */
  async #rowLeft(state: StateContract): Promise<LeaseRow | null> {
    const claim = readClaimFile(state.root);
    const former = claim.kind === 'seen' ? formerCarriers(state, claim.value.stores) : [];
    const deadlineMs = this.#clock.monotonicMs() + PATIENCE_MS;
    let newest: LeaseRow | null = null;
    for (const store of former) {
      const row = await this.#patiently(store, deadlineMs, () => this.#open(state, store).row());
      if (row === null) throw new Error(`the lease row of ${store.id} is missing`);
      if (newest === null || row.epoch > newest.epoch) newest = row;
    }
    return newest;
  }

  /**
   * Runs `act` under the write locks of all the stores at once and commits. While one cannot be had none is kept, so
   * that two who want several never wait for each other.
   */
  async #locked<T>(
    stores: readonly StateStore[],
    state: StateContract,
    deadlineMs: number,
    act: (connections: readonly StoreConnection[]) => T,
  ): Promise<T> {
    const startedMs = this.#clock.monotonicMs();
    for (;;) {
      const connections: StoreConnection[] = [];
      let held = '';
      try {
        for (const store of stores) {
          held = store.id;
          const connection = this.#open(state, store);
          connection.begin();
          connections.push(connection);
        }
        const result = act(connections);
        for (const connection of connections) connection.commit();
        return result;
      } catch (error) {
        for (const connection of connections) connection.rollback();
        if (!isBusy(error)) throw error;
      }
      await this.#pause(startedMs, deadlineMs, held);
    }
  }

  /** Repeats a read that met a recovery or an exclusive lock. */
  async #patiently<T>(store: StateStore, deadlineMs: number, act: () => T): Promise<T> {
    const startedMs = this.#clock.monotonicMs();
    for (;;) {
      try {
        return act();
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      await this.#pause(startedMs, deadlineMs, store.id);
    }
  }

  async #pause(startedMs: number, deadlineMs: number, held: string): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= deadlineMs) throw new Busy(held);
    const eager = nowMs - startedMs < EAGER_MS;
    await new Promise<void>((resolve) => {
      if (eager) setImmediate(resolve);
      else this.#timers.after(PAUSE_MS, resolve);
    });
  }

  #open(state: StateContract, store: StateStore): StoreConnection {
    return this.#warm.open(pathOf(state, store));
  }

  async #attempt<T>(state: StateContract, act: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    try {
      return await act();
    } catch (error) {
      return error instanceof Busy
        ? refused(heldBy(state, error.store))
        : refused(refusal('store-unusable', `A store of ${state.stateId} cannot be used: ${String(error)}.`));
    }
  }
}

function heldBy(state: StateContract, id: string): Refusal {
  const store = leaseCarriers(state).find((one) => one.id === id);
  const pids = store === undefined ? [] : writersOf(pathOf(state, store));
  const who = pids.length === 0 ? 'a program' : `process ${pids.join(', ')}`;
  const why = `The store ${id} of ${state.stateId} is held by ${who}.`;
  return refusal('store-busy', why, { detail: { heldBy: [...pids] } });
}

/** F20: bindings of one fleet are held against each other at planning; the claims on disk tell of other fleets. */
const overlapping = (state: StateContract, above: string): Outcome<never> =>
  refused(refusal('state-roots-overlap', `The state root ${state.root} lies inside ${above}, which is claimed.`));

const pathOf = (state: StateContract, store: StateStore): string => join(state.root, store.path);

const pick = ({ epoch, activation, release, stateSchema }: NextRow): NextRow => ({
  epoch,
  activation,
  release,
  stateSchema,
});

const foreign = (path: string, row: LeaseRow, state: StateContract): Outcome<never> =>
  refused(refusal('lease-row-foreign', `The store ${path} belongs to state ${row.stateId}, not to ${state.stateId}.`));

const whyNot = (evidence: Evidence<unknown>): string =>
  evidence.kind === 'unknown' ? evidence.because : 'no store is there';
