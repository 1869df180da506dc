import type { Code } from '../catalogue/index.ts';
import type { Digest } from '../digest.ts';
import type { Json, JsonObject } from '../json.ts';

/**
 * Two spaces kept apart: the catalogue is what people and programs ask for and are told (state version, receipts);
 * the journal is the engine's progress, which never spoils anybody's precondition.
 */
export type Space = 'catalogue' | 'journal';

export interface RecordKey {
  readonly space: Space;
  /** Names one registered record kind, e.g. `transaction`. */
  readonly kind: string;
  readonly id: string;
}

/** A record's value. `schema` names shape and version (`idunn.transaction/v1`); an unknown one is refused, loudly. */
export type RecordValue = JsonObject & { readonly schema: string };

export interface StoredRecord<V extends RecordValue = RecordValue> {
  readonly key: RecordKey;
  /** The state version (catalogue) or journal version of the record's last accepted mutation; never reused. */
  readonly generation: number;
  readonly value: V;
}

/**
 * One change of one record, with its precondition. `expect: 'absent'` creates; `next: null` deletes. A batch names a
 * record once.
 */
export interface Mutation {
  readonly key: RecordKey;
  readonly expect: number | 'absent' | 'any';
  readonly next: RecordValue | null;
}

/** An entry that is appended to the history in the same transaction as the mutations. */
export interface HistoryDraft {
  /** Names what happened: `transaction.phase`, `command.refused`, … */
  readonly kind: string;
  /** Target or transaction id. */
  readonly subject: string;
  readonly actor: string;
  readonly tenant: string;
  /** Wall clock, for people. */
  readonly atMs: number;
  readonly body: Json;
}

export interface HistoryEntry extends HistoryDraft {
  readonly schema: 'idunn.history/v1';
  /** From 1, without a gap. */
  readonly sequence: number;
  /** Digest of the entry before it; entries chain. The first one names 64 zeros. */
  readonly previous: Digest;
  /** Digest over the entry without this field. */
  readonly digest: Digest;
}

export interface Batch {
  readonly mutations: readonly Mutation[];
  readonly history?: readonly HistoryDraft[];
}

export type CommitResult =
  /** `generations` are those of the batch's mutations, in their order. */
  | { readonly kind: 'committed'; readonly stateVersion: number; readonly generations: readonly number[] }
  | { readonly kind: 'conflict'; readonly key: RecordKey; readonly actual: number | 'absent' }
  /** The write may or may not have happened; read back before acting. */
  | { readonly kind: 'unknown'; readonly because: string };

/**
 * The record store: compare-and-swap by generation over several records at once. Reads of a record that cannot be
 * decoded, and writes that the disk refuses, throw `StoreFault`; nothing is acted on and what was there stays (F27,
 * F28). Operations take effect in the order in which they were asked for. The state version rises by one with each
 * committed batch that names a catalogue record, the journal version with each that names a journal record; a batch of
 * history alone raises neither. Ids are 1 to 512 visible ASCII characters. A key, batch or page outside its limits is a
 * fault of the caller: `TypeError`.
 */
export interface RecordStore {
  get(key: RecordKey): Promise<StoredRecord | null>;
  /**
   * Records of one kind in id order; `prefix` narrows by id, `after` continues behind an id, `limit` is at most 10,000.
   */
  list(
    space: Space,
    kind: string,
    options?: { prefix?: string; after?: string; limit?: number },
  ): Promise<readonly StoredRecord[]>;
  commit(batch: Batch): Promise<CommitResult>;
  /** Entries in order; `after` continues behind a sequence, in the direction of reading; `subject` narrows. */
  history(options?: {
    subject?: string;
    after?: number;
    limit?: number;
    newestFirst?: boolean;
  }): Promise<readonly HistoryEntry[]>;
  /** The catalogue's state version. */
  stateVersion(): Promise<number>;
  close(): Promise<void>;
}

/** A store that cannot be read or written as asked. A fault, not a refusal: the caller stops at that step. */
export class StoreFault extends Error {
  /** The catalogue's code, so that the fault can be shown with its remedy. */
  readonly code: Extract<Code, `store-${string}`>;
  constructor(code: StoreFault['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreFault';
    this.code = code;
  }
}
