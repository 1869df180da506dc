import { canonicalJson } from '../canonical.ts';
import type { RecordCodec } from './kinds.ts';
import { MAX_BATCH, MAX_PAGE, MAX_VALUE_BYTES } from './limits.ts';
import type { Batch, HistoryDraft, Mutation, RecordKey, Space } from './port.ts';

/** A batch as a backend applies it: everything checked and encoded, nothing left that could be refused for its form. */
export interface EncodedBatch {
  readonly mutations: readonly {
    readonly key: RecordKey;
    readonly expect: Mutation['expect'];
    /** Canonical JSON, or `null` to delete. */
    readonly text: string | null;
  }[];
  readonly history: readonly HistoryDraft[];
}

/** Both versions after a batch; each record's generation is the one of its space. */
export interface Versions {
  readonly catalogue: number;
  readonly journal: number;
}

/** Checks and encodes a batch. Throws `TypeError` or `StoreFault`, and then nothing was written. */
export function encodeBatch(codec: RecordCodec, batch: Batch): EncodedBatch {
  const history = batch.history ?? [];
  if (batch.mutations.length > MAX_BATCH || history.length > MAX_BATCH) {
    throw new TypeError(`a batch has at most ${MAX_BATCH} mutations and as many history entries`);
  }
  const named = new Set(batch.mutations.map(({ key }) => `${key.space}/${key.kind}/${key.id}`));
  if (named.size !== batch.mutations.length) throw new TypeError('a batch names a record once');
  if (history.some((draft) => Buffer.byteLength(canonicalJson(draft)) > MAX_VALUE_BYTES)) {
    throw new TypeError('a history entry is too long');
  }
  return {
    mutations: batch.mutations.map(({ key, expect, next }) => {
      checkKey(codec, key);
      return { key, expect, text: next === null ? null : codec.encode(key, next) };
    }),
    history,
  };
}

/** The versions after a batch: each rises by one when the batch names a record of its space. */
export function raised(versions: Versions, batch: EncodedBatch): Versions {
  const touches = (space: Space): number => (batch.mutations.some(({ key }) => key.space === space) ? 1 : 0);
  return { catalogue: versions.catalogue + touches('catalogue'), journal: versions.journal + touches('journal') };
}

/** The first mutation whose precondition does not hold, and what is there instead. */
export function conflictOf(
  batch: EncodedBatch,
  generationOf: (key: RecordKey) => number | 'absent',
): { readonly key: RecordKey; readonly actual: number | 'absent' } | null {
  for (const { key, expect } of batch.mutations) {
    const actual = generationOf(key);
    if (expect !== 'any' && expect !== actual) return { key, actual };
  }
  return null;
}

const ID_PATTERN = /^[\x21-\x7e]{1,512}$/;

/** Whether a record can have this id: whoever looks for words of somebody else asks first. */
export const isRecordId = (id: string): boolean => ID_PATTERN.test(id);

/** Throws `TypeError` for a key that no record can have. */
export function checkKey(codec: RecordCodec, key: RecordKey): void {
  codec.kindOf(key.space, key.kind);
  if (!isRecordId(key.id)) throw new TypeError('a record id is 1 to 512 visible ASCII characters');
}

/** The page's size; all of it that fits when none was named. Throws `TypeError` beyond the limit. */
export function pageLimit(limit: number | undefined): number {
  if (limit === undefined) return MAX_PAGE;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new TypeError(`a page has 1 to ${MAX_PAGE} entries`);
  }
  return limit;
}
