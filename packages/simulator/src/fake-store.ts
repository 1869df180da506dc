import {
  type Batch,
  type CommitResult,
  canonicalJson,
  chained,
  checkKey,
  conflictOf,
  EMPTY_HISTORY,
  type EncodedBatch,
  encodeBatch,
  type HistoryDraft,
  type HistoryEntry,
  pageLimit,
  type RecordCodec,
  type RecordKey,
  type RecordKind,
  type RecordStore,
  raised,
  recordCodec,
  type StoredRecord,
  StoreFault,
  type Versions,
} from '@idunn/kernel';

/**
 * What becomes of one durable write. `die` ends the process that asked: nothing is ever answered, to this or any later
 * call of its handle. `unknown` is answered so, before the write without it, after the write with it.
 */
export type WriteFate = 'go' | 'die' | 'unknown' | 'full';

/** Asked around each durable write; the simulator decides here where the world breaks. */
export interface FakeStoreHook {
  beforeWrite?(batch: Batch): WriteFate;
  afterWrite?(batch: Batch): Exclude<WriteFate, 'full'>;
}

/** The disk under the record store of one simulated machine. It outlives every process that opens it. */
export interface FakeStore {
  /** A handle for one process. Whoever held the one before is dead from now on (one daemon per store). */
  open(kinds?: readonly RecordKind[]): RecordStore;
  /** Ends the process that holds the present handle, as a power cut does. */
  crash(): void;
  /** How many batches are durable: the write numbers that a run can be cut at. */
  writes(): number;
}

interface Disk {
  readonly records: Map<string, { readonly key: RecordKey; readonly generation: number; readonly text: string }>;
  versions: Versions;
  readonly history: HistoryEntry[];
  writes: number;
}

const nameOf = (key: RecordKey): string => `${key.space}/${key.kind}/${key.id}`;

/** An in-memory record store that keeps the contract, and breaks where its hook says so. */
export function fakeStore(kinds: readonly RecordKind[], hook: FakeStoreHook = {}): FakeStore {
  const disk: Disk = { records: new Map(), versions: { catalogue: 0, journal: 0 }, history: [], writes: 0 };
  let holder = 0;
  return {
    open(readable = kinds) {
      holder += 1;
      const mine = holder;
      return handle(recordCodec(readable), disk, hook, {
        alive: () => holder === mine,
        die: () => {
          if (holder === mine) holder += 1;
        },
      });
    },
    crash() {
      holder += 1;
    },
    writes: () => disk.writes,
  };
}

/** The process that holds a handle. */
interface Life {
  alive(): boolean;
  die(): void;
}

/** The dead answer nothing: a promise that nobody settles is the exact model of a call that a crash cut off. */
const silence = (): Promise<never> => new Promise(() => {});

function handle(codec: RecordCodec, disk: Disk, hook: FakeStoreHook, life: Life): RecordStore {
  let closed = false;
  const answering = async <T>(answer: () => T | Promise<T>): Promise<T> => {
    if (closed) throw new StoreFault('store-write-failed', 'The record store is closed.');
    if (!life.alive()) return silence();
    const answered = await answer();
    return life.alive() ? answered : silence();
  };
  const decoded = ({ key, generation, text }: { key: RecordKey; generation: number; text: string }): StoredRecord => ({
    key,
    generation,
    value: codec.decode(key, text),
  });

  return {
    get: (key) =>
      answering(() => {
        checkKey(codec, key);
        const row = disk.records.get(nameOf(key));
        return row === undefined ? null : decoded(row);
      }),
    list: (space, kind, { prefix = '', after = '', limit } = {}) =>
      answering(() => {
        codec.kindOf(space, kind);
        return [...disk.records.values()]
          .filter(({ key }) => key.space === space && key.kind === kind && key.id.startsWith(prefix) && key.id > after)
          .sort((a, b) => (a.key.id < b.key.id ? -1 : 1))
          .slice(0, pageLimit(limit))
          .map(decoded);
      }),
    commit: (batch) => answering(() => commit(codec, disk, hook, life, batch)),
    history: ({ subject, after, limit, newestFirst = false } = {}) =>
      answering(() => {
        const size = pageLimit(limit);
        const entries = newestFirst ? disk.history.toReversed() : disk.history;
        const behind = (sequence: number): boolean =>
          after === undefined || (newestFirst ? sequence < after : sequence > after);
        return entries
          .filter((entry) => behind(entry.sequence) && (subject === undefined || entry.subject === subject))
          .slice(0, size)
          .map((entry) => structuredClone(entry));
      }),
    stateVersion: () => answering(() => disk.versions.catalogue),
    close: () =>
      answering(() => {
        closed = true;
      }),
  };
}

function commit(
  codec: RecordCodec,
  disk: Disk,
  hook: FakeStoreHook,
  life: Life,
  batch: Batch,
): CommitResult | Promise<never> {
  const encoded = encodeBatch(codec, batch);
  const conflict = conflictOf(encoded, (key) => disk.records.get(nameOf(key))?.generation ?? 'absent');
  if (conflict !== null) return { kind: 'conflict', ...conflict };

  switch (hook.beforeWrite?.(batch) ?? 'go') {
    case 'die':
      life.die();
      return silence();
    case 'unknown':
      return { kind: 'unknown', because: 'The answer of the disk was lost; nothing was written.' };
    case 'full':
      throw new StoreFault('store-full', 'The disk of the record store is full; nothing was changed.');
    case 'go':
      break;
  }

  write(disk, encoded);

  switch (hook.afterWrite?.(batch) ?? 'go') {
    case 'die':
      life.die();
      return silence();
    case 'unknown':
      return { kind: 'unknown', because: 'The answer of the disk was lost; all was written.' };
    case 'go':
      return {
        kind: 'committed',
        stateVersion: disk.versions.catalogue,
        generations: encoded.mutations.map(({ key }) => disk.versions[key.space]),
      };
  }
}

function write(disk: Disk, batch: EncodedBatch): void {
  disk.versions = raised(disk.versions, batch);
  for (const { key, text } of batch.mutations) {
    if (text === null) disk.records.delete(nameOf(key));
    else disk.records.set(nameOf(key), { key: { ...key }, generation: disk.versions[key.space], text });
  }
  for (const draft of batch.history) {
    const copy = JSON.parse(canonicalJson(draft)) as HistoryDraft;
    disk.history.push(chained(disk.history.at(-1) ?? EMPTY_HISTORY, copy));
  }
  disk.writes += 1;
}
