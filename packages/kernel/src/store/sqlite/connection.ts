import { Worker } from 'node:worker_threads';
import { MAX_WAITING } from '../limits.ts';
import { type CommitResult, StoreFault } from '../port.ts';
import type { Answer, OperationName, Operations, Request, ThreadData, ThreadMessage } from './protocol.ts';

/** The way to the store's thread: requests wait while a turn is carried out, then go together as the next one. */
export interface Connection {
  ask<Name extends OperationName>(name: Name, details: Operations[Name]['ask']): Promise<Operations[Name]['answer']>;
  /** Resolves when the thread has ended. */
  ended(): Promise<void>;
}

interface Waiting {
  readonly request: Request;
  readonly resolve: (value: Operations[OperationName]['answer']) => void;
  readonly reject: (fault: StoreFault) => void;
}

/** Starts the thread and resolves when it holds the lock and the store is whole. Throws `StoreFault`. */
export async function connect(data: ThreadData, thread: URL = storeThread()): Promise<Connection> {
  const worker = new Worker(thread, { workerData: data });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const waiting: Waiting[] = [];
  const sent = new Map<number, Waiting>();
  let carryingOut = false;
  let gone: string | null = null;
  let nextId = 1;

  const send = (): void => {
    if (carryingOut || waiting.length === 0 || gone !== null) return;
    const turn = waiting.splice(0);
    for (const one of turn) sent.set(one.request.id, one);
    carryingOut = true;
    worker.postMessage(turn.map((one) => one.request));
  };

  const settle = (answer: Answer): void => {
    const one = sent.get(answer.id);
    sent.delete(answer.id);
    if (answer.ok) one?.resolve(answer.value);
    else one?.reject(new StoreFault(answer.fault.code, answer.fault.message));
  };

  /** What was sent may have happened, what was not has not. */
  const lose = (because: string): void => {
    gone = because;
    const unknown: CommitResult = { kind: 'unknown', because };
    for (const one of sent.values()) {
      if (one.request.name === 'commit') one.resolve(unknown);
      else one.reject(new StoreFault('store-unreadable', because));
    }
    for (const one of waiting) one.reject(new StoreFault('store-write-failed', because));
    sent.clear();
    waiting.length = 0;
  };

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: ThreadMessage) => {
      switch (message.kind) {
        case 'opened':
          resolve();
          break;
        case 'not-opened':
          reject(new StoreFault(message.fault.code, message.fault.message));
          break;
        case 'turn':
          carryingOut = false;
          message.answers.forEach(settle);
          send();
          break;
        case 'late':
          settle(message.answer);
          break;
      }
    });
    worker.on('error', (cause) => {
      const because = `The record store's thread failed: ${cause instanceof Error ? cause.message : String(cause)}.`;
      lose(because);
      reject(new StoreFault('store-unreadable', because, { cause }));
    });
    worker.on('exit', () => {
      if (gone === null) lose('The record store is closed.');
      reject(new StoreFault('store-unreadable', 'The record store was closed while it was opened.'));
    });
  });

  return {
    ask: (name, details) =>
      new Promise((resolve, reject) => {
        if (gone !== null) return reject(new StoreFault('store-write-failed', gone));
        if (waiting.length >= MAX_WAITING) {
          return reject(new StoreFault('store-write-failed', `${MAX_WAITING} operations wait for the record store.`));
        }
        const request = { id: nextId++, name, ...details } as unknown as Request;
        waiting.push({ request, resolve, reject });
        send();
      }),
    ended: () => ended,
  };
}

/** The thread's module beside this one, in source as in the published form. */
const storeThread = (): URL =>
  new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
