import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LeasePort } from '@idunn/authority';
import type { StateContract } from '@idunn/release';

export interface WorkerCall {
  readonly id: number;
  readonly method: keyof LeasePort;
  readonly args: readonly [StateContract, ...unknown[]];
}

export type WorkerAnswer =
  | { readonly id: number; readonly value: unknown }
  /** A fault in our own code, never an answer of the database. */
  | { readonly id: number; readonly fault: string };

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A running worker and the calls that it owes an answer. It keeps this process alive only while it owes one. */
export class WorkerLink {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  /** True when the thread has ended; the next call needs another link. */
  ended = false;

  /** True while it owes an answer that should have come; the thread is likely stuck in the system. */
  overdue = false;

  constructor(program: URL) {
    this.#worker = new Worker(program);
    this.#worker.unref();
    this.#worker.on('message', (answer: WorkerAnswer) => this.#settle(answer));
    this.#worker.on('error', (error: Error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('the lease worker ended')));
  }

  call(method: keyof LeasePort, state: StateContract, ...more: readonly unknown[]): Promise<unknown> {
    const id = ++this.#calls;
    this.#worker.ref();
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    this.#worker.postMessage({ id, method, args: [state, ...more] } satisfies WorkerCall);
    return answered;
  }

  /** Closes every connection, then ends the thread. */
  async close(): Promise<void> {
    if (this.ended) return;
    const exited = once(this.#worker, 'exit');
    this.#worker.ref();
    this.#worker.postMessage('close');
    await exited;
  }

  #settle(answer: WorkerAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ('fault' in answer) pending?.reject(new Error(answer.fault));
    else pending?.resolve(answer.value);
  }

  #end(error: Error): void {
    this.ended = true;
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }
}
