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
  type RecordValue,
  raised,
  recordCodec,
  type Space,
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
  /** A copy of all that is durable now. */
  backup(): Backup;
  /** What was durable then is so again, and nothing since. Whoever holds a handle is dead. */
  restore(backup: Backup): void;
}

type Records = Readonly<Record<Space, Map<string, Map<string, Row>>>>;

/** What a copy of a store holds. */
export interface Backup {
  readonly records: Records;
  readonly versions: Versions;
  readonly drafts: readonly HistoryDraft[];
}

interface Disk {
  /** By kind, by id. */
  records: Records;
  versions: Versions;
  drafts: HistoryDraft[];
  /** The chain, as far as anybody has read it. */
  history: HistoryEntry[];
  writes: number;
  readonly encodesEvery: number;
  readonly encodesFrom: number;
}

/** A record as it lies there: as text, or as the frozen value that was written. */
interface Row {
  readonly key: RecordKey;
  readonly generation: number;
  readonly written: { readonly text: string } | { readonly value: RecordValue };
}

const rowAt = ({ records }: Disk, { space, kind, id }: RecordKey): Row | undefined => records[space].get(kind)?.get(id);

function shelfOf({ records }: Disk, space: Space, kind: string): Map<string, Row> {
  const known = records[space].get(kind) ?? new Map<string, Row>();
  records[space].set(kind, known);
  return known;
}

/**
 * An in-memory record store that keeps the contract, and breaks where its hook says so. `encodesEvery`: one write in so
 * many, counted `from` some number, is checked and carried as text, as a real store does with each; the others are kept
 * as they are, frozen.
 */
export function fakeStore(
  kinds: readonly RecordKind[],
  hook: FakeStoreHook = {},
  { encodesEvery = 1, from = 0 }: { readonly encodesEvery?: number; readonly from?: number } = {},
): FakeStore {
  const disk: Disk = {
    records: { catalogue: new Map(), journal: new Map() },
    versions: { catalogue: 0, journal: 0 },
    drafts: [],
    history: [],
    writes: 0,
    encodesEvery,
    encodesFrom: from,
  };
  let holder = 0;
  const own = recordCodec(kinds);
  return {
    open(readable = kinds) {
      holder += 1;
      const mine = holder;
      return handle(readable === kinds ? own : recordCodec(readable), disk, hook, {
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
    backup: () => ({ records: copied(disk.records), versions: disk.versions, drafts: [...disk.drafts] }),
    restore({ records, versions, drafts }) {
      holder += 1;
      Object.assign(disk, { records: copied(records), versions, drafts: [...drafts], history: [] });
    },
  };
}

/** The rows themselves are never changed. */
function copied({ catalogue, journal }: Records): Records {
  const shelves = (of: Records[Space]): Records[Space] => new Map([...of].map(([kind, rows]) => [kind, new Map(rows)]));
  return { catalogue: shelves(catalogue), journal: shelves(journal) };
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
  const answering = async <T>(answer: () => T): Promise<T> => {
    if (closed) throw new StoreFault('store-write-failed', 'The record store is closed.');
    if (!life.alive()) return silence();
    const answered = answer();
    return life.alive() ? answered : silence();
  };
  const decoded = ({ key, generation, written }: Row): StoredRecord => ({
    key,
    generation,
    value: 'text' in written ? codec.decode(key, written.text) : written.value,
  });

  return {
    get: (key) =>
      answering(() => {
        checkKey(codec, key);
        const row = rowAt(disk, key);
        return row === undefined ? null : decoded(row);
      }),
    list: (space, kind, { prefix = '', after = '', limit } = {}) =>
      answering(() => {
        codec.kindOf(space, kind);
        return [...shelfOf(disk, space, kind).values()]
          .filter(({ key }) => key.id.startsWith(prefix) && key.id > after)
          .sort((a, b) => (a.key.id < b.key.id ? -1 : 1))
          .slice(0, pageLimit(limit))
          .map(decoded);
      }),
    commit: (batch) => answering(() => commit(codec, disk, hook, life, batch)),
    history: ({ subject, after, limit, newestFirst = false } = {}) =>
      answering(() => {
        const size = pageLimit(limit);
        const chain = chainOf(disk);
        const entries = newestFirst ? chain.toReversed() : chain;
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

/** What the dead would have been answered. */
const UNHEARD: CommitResult = { kind: 'unknown', because: 'Nobody is left to hear.' };

type Written = EncodedBatch['mutations'][number] & { readonly value: RecordValue | null };

/** Checks a batch; where it is not carried as text its values are frozen and stay what they are. */
function prepared(
  codec: RecordCodec,
  disk: Disk,
  batch: Batch,
): EncodedBatch & { readonly mutations: readonly Written[] } {
  if ((disk.writes + disk.encodesFrom) % disk.encodesEvery === 0) {
    const encoded = encodeBatch(codec, batch);
    return { ...encoded, mutations: encoded.mutations.map((mutation) => ({ ...mutation, value: null })) };
  }
  return {
    mutations: batch.mutations.map(({ key, expect, next }) => ({ key, expect, text: null, value: frozen(next) })),
    history: batch.history?.map(frozen) ?? [],
  };
}

/** Freezes a value whole; whoever has one that was read cannot change what lies in the store. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) if (typeof item === 'object') frozen(item);
  return value;
}

function commit(codec: RecordCodec, disk: Disk, hook: FakeStoreHook, life: Life, batch: Batch): CommitResult {
  const encoded = prepared(codec, disk, batch);
  const conflict = conflictOf(encoded, (key) => rowAt(disk, key)?.generation ?? 'absent');
  if (conflict !== null) return { kind: 'conflict', ...conflict };

  switch (hook.beforeWrite?.(batch) ?? 'go') {
    case 'die':
      life.die();
      return UNHEARD;
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
      return UNHEARD;
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

function write(disk: Disk, batch: ReturnType<typeof prepared>): void {
  disk.versions = raised(disk.versions, batch);
  for (const { key, text, value } of batch.mutations) {
    const written = text !== null ? { text } : value !== null ? { value } : null;
    const shelf = shelfOf(disk, key.space, key.kind);
    if (written === null) shelf.delete(key.id);
    else shelf.set(key.id, { key: { ...key }, generation: disk.versions[key.space], written });
  }
  for (const draft of batch.history) disk.drafts.push(disk.encodesEvery === 1 ? structuredClone(draft) : draft);
  disk.writes += 1;
}

/** The history as it is chained; nothing is digested that nobody reads. */
function chainOf(disk: Disk): readonly HistoryEntry[] {
  for (const draft of disk.drafts.slice(disk.history.length)) {
    const copy = JSON.parse(canonicalJson(draft)) as HistoryDraft;
    disk.history.push(chained(disk.history.at(-1) ?? EMPTY_HISTORY, copy));
  }
  return disk.history;
}
