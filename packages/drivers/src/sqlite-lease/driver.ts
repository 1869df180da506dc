import { stat } from 'node:fs/promises';
import type { LeasePort, LeaseRows, OwnerClaim, SwapAnswer, SwapRequest } from '@idunn/authority';
import type { Evidence, Outcome } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import { WorkerLink } from './worker-link.ts';

/** Threads at most; states on further disks share. */
const WORKER_LIMIT = 8;
/** State roots whose disk is remembered. */
const REMEMBERED_ROOTS = 10_000;

/** The lease port on SQLite in WAL mode. */
export interface SqliteLease extends LeasePort {
  /** Closes the connections and ends the threads. */
  close(): Promise<void>;
}

/**
 * Makes the driver. The work is done in one thread for each disk (by device), so that a disk that hangs delays
 * neither the main loop nor a state on another disk.
 */
export const createSqliteLease = (): SqliteLease => new ThreadedLease();

class ThreadedLease implements SqliteLease {
  readonly #links = new Map<number, WorkerLink>();
  readonly #devices = new Map<string, number>();

  prepare(state: StateContract): Promise<Outcome<LeaseRows>> {
    return this.#call('prepare', state);
  }

  read(state: StateContract): Promise<Evidence<LeaseRows>> {
    return this.#call('read', state);
  }

  writeNonce(state: StateContract, nonce: string): Promise<Outcome<'written'>> {
    return this.#call('writeNonce', state, nonce);
  }

  swap(state: StateContract, request: SwapRequest): Promise<SwapAnswer> {
    return this.#call('swap', state, request);
  }

  sync(state: StateContract): Promise<Outcome<'durable'>> {
    return this.#call('sync', state);
  }

  readClaim(state: StateContract): Promise<Evidence<OwnerClaim>> {
    return this.#call('readClaim', state);
  }

  writeClaim(state: StateContract, claim: OwnerClaim, over: OwnerClaim | null): Promise<Outcome<'written'>> {
    return this.#call('writeClaim', state, claim, over);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
    this.#links.clear();
  }

  async #call<T>(method: keyof LeasePort, state: StateContract, ...more: readonly unknown[]): Promise<T> {
    const link = this.#linkFor(this.#devices.get(state.root) ?? (await this.#lookUp(state.root)));
    // The worker runs the same port: what it answers is what the method's type says.
    return (await link.call(method, state, ...more)) as T;
  }

  /** Remembered: it only chooses the thread, and a swap has no time to ask again. */
  async #lookUp(root: string): Promise<number> {
    const device = await deviceOf(root);
    if (this.#devices.size >= REMEMBERED_ROOTS) this.#devices.clear();
    this.#devices.set(root, device);
    return device;
  }

  #linkFor(device: number): WorkerLink {
    const slot = this.#links.has(device) || this.#links.size < WORKER_LIMIT ? device : this.#shared(device);
    const known = this.#links.get(slot);
    if (known !== undefined && !known.ended) return known;
    const link = new WorkerLink();
    this.#links.set(slot, link);
    return link;
  }

  #shared(device: number): number {
    return [...this.#links.keys()][device % WORKER_LIMIT] ?? device;
  }
}

/** A root that is not there is judged in any thread. */
async function deviceOf(root: string): Promise<number> {
  try {
    return (await stat(root)).dev;
  } catch {
    return 0;
  }
}
