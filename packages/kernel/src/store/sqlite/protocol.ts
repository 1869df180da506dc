import type { EncodedBatch } from '../batch.ts';
import type { CommitResult, RecordKey, StoreFault } from '../port.ts';
import type { HistoryQuery, ListQuery, Row } from './database.ts';
import type { Holder } from './lock.ts';

/** What the store's thread is started with. */
export interface ThreadData {
  readonly file: string;
  readonly holder: Holder;
  readonly maxBytes: number;
}

/** What can be asked of the store's thread, and what each is answered with. */
export interface Operations {
  commit: { ask: { readonly batch: EncodedBatch }; answer: CommitResult };
  get: { ask: { readonly key: RecordKey }; answer: Row | null };
  list: { ask: { readonly query: ListQuery }; answer: readonly Row[] };
  history: {
    ask: { readonly query: HistoryQuery };
    answer: readonly { readonly sequence: number; readonly text: string }[];
  };
  stateVersion: { ask: object; answer: number };
  verifyHistory: { ask: object; answer: number };
  backup: { ask: { readonly file: string }; answer: null };
  close: { ask: object; answer: null };
}

export type OperationName = keyof Operations;

/** One request; a turn is all requests that waited when the thread became free. */
export type Request = {
  [Name in OperationName]: { readonly id: number; readonly name: Name } & Operations[Name]['ask'];
}[OperationName];

/** Errors as data: a class does not survive the way between threads. */
export interface Fault {
  readonly code: StoreFault['code'];
  readonly message: string;
}

export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: Operations[OperationName]['answer'] }
  | { readonly id: number; readonly ok: false; readonly fault: Fault };

export type ThreadMessage =
  | { readonly kind: 'opened' }
  | { readonly kind: 'not-opened'; readonly fault: Fault }
  /** Every request of the turn was taken; those that take longer are answered later, as `late`. */
  | { readonly kind: 'turn'; readonly answers: readonly Answer[] }
  | { readonly kind: 'late'; readonly answer: Answer };
