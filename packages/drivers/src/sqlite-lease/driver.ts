import { stat } from 'node:fs/promises';
import type { LeasePort, LeaseRows, OwnerClaim, SwapAnswer, SwapRequest } from '@idunn/authority';
import { type Evidence, type Outcome, systemTimers, type Timers, unknown } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import { WorkerLink } from './worker-link.ts';

/** Threads at most; states on further disks share. */
const WORKER_LIMIT = 8;
/** A disk that has not answered a reading by then cannot be read (I10). */
const READ_LIMIT_MS = 5_000;
/** State roots whose disk is remembered. */
const REMEMBERED_ROOTS = 10_000;

/** The lease port on SQLite in WAL mode. */
export interface SqliteLease extends LeasePort {
  /** Closes the connections and ends the threads. */
  close(): Promise<void>;
}

/** The program of the thread, and the timers that limit a reading. Tests bring their own. */
interface Means {
  readonly worker: URL;
  readonly timers: Timers;
}
const MEANS: Means = {
  worker: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url),
  timers: systemTimers,
};

/**
 * Makes the driver. The work is done in one thread for each disk (by device), so that a disk that hangs delays
 * neither the main loop nor a state on another disk. A reading that such a disk owes is unknown after a limit, and so
 * is every further one at once, until the disk has answered it.
 */
export const createSqliteLease = (means: Partial<Means> = {}): SqliteLease => new ThreadedLease({ ...MEANS, ...means });

class ThreadedLease implements SqliteLease {
  readonly #means: Means;
  readonly #links = new Map<number, WorkerLink>();
  readonly #devices = new Map<string, number>();

  constructor(means: Means) {
    this.#means = means;
  }

  prepare(state: StateContract): Promise<Outcome<LeaseRows>> {
    return this.#call('prepare', state);
  }

  read(state: StateContract): Promise<Evidence<LeaseRows>> {
    return this.#reading('read', state);
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
    return this.#reading('readClaim', state);
  }

  writeClaim(state: StateContract, claim: OwnerClaim, over: OwnerClaim | null): Promise<Outcome<'written'>> {
    return this.#call('writeClaim', state, claim, over);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
    this.#links.clear();
  }

  async #reading<T>(method: 'read' | 'readClaim', state: StateContract): Promise<Evidence<T>> {
    const link = await this.#linkOf(state.root);
    const silent = unknown(`the disk of ${state.root} has not answered for ${READ_LIMIT_MS} ms`);
    if (link.overdue) return silent;
    const answer = link.call(method, state) as Promise<Evidence<T>>;
    return new Promise((resolve, reject) => {
      const cancel = this.#means.timers.after(READ_LIMIT_MS, () => {
        link.overdue = true;
        resolve(silent);
      });
      const settled = (): void => {
        cancel();
        link.overdue = false;
      };
      answer.finally(settled).then(resolve, reject);
    });
  }

  async #call<T>(method: keyof LeasePort, state: StateContract, ...more: readonly unknown[]): Promise<T> {
    const link = await this.#linkOf(state.root);
    // The worker runs the same port: what it answers is what the method's type says.
    return (await link.call(method, state, ...more)) as T;
  }

  async #linkOf(root: string): Promise<WorkerLink> {
    return this.#linkFor(this.#devices.get(root) ?? (await this.#lookUp(root)));
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
    const link = new WorkerLink(this.#means.worker);
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
