import { existsSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { canonicalJson } from '../../canonical.ts';
import { conflictOf, type EncodedBatch, raised } from '../batch.ts';
import { chained, EMPTY_HISTORY } from '../history.ts';
import type { CommitResult, RecordKey, Space } from '../port.ts';
import { StoreFault } from '../port.ts';
import { isFull, writeFault } from './faults.ts';
import { createPrivateFile, publishFile, removeFile } from './files.ts';
import { type Head, openDatabase, readHead, verifyChain, writeHead } from './schema.ts';

/** A record as it is stored. */
export interface Row {
  readonly id: string;
  readonly generation: number;
  readonly text: string;
}

export interface ListQuery {
  readonly space: Space;
  readonly kind: string;
  readonly prefix: string;
  readonly after: string;
  readonly limit: number;
}

export interface HistoryQuery {
  readonly subject: string | null;
  readonly after: number | null;
  readonly limit: number;
  readonly newestFirst: boolean;
}

export type Applied = CommitResult | StoreFault;

/** The database behind the store, used from its one thread. */
export interface Database {
  /** Applies batches in order, each whole or not at all, with one sync of the disk for all of them. */
  commit(batches: readonly EncodedBatch[]): readonly Applied[];
  get(key: RecordKey): Row | null;
  list(query: ListQuery): readonly Row[];
  history(query: HistoryQuery): readonly { readonly sequence: number; readonly text: string }[];
  stateVersion(): number;
  verifyHistory(): number;
  /** Copies the store as it is into a new file, checked and durable. */
  backup(file: string): Promise<void>;
  close(): void;
}

/** More pages than any database has: they are copied in one step. */
const ALL_PAGES = 2 ** 31 - 1;

export function database(file: string, { mayCreate, maxBytes }: { mayCreate: boolean; maxBytes: number }): Database {
  createPrivateFile(file);
  let open = openDatabase(file, { mayCreate, maxBytes });
  let head = readHead(open);
  let statements = prepared(open);

  const generationOf = (key: RecordKey): number | 'absent' => {
    const row = statements.get.get(key.space, key.kind, key.id);
    return row === undefined ? 'absent' : Number(row['generation']);
  };

  const apply = (before: Head, batch: EncodedBatch): { next: Head; result: CommitResult } => {
    const conflict = conflictOf(batch, generationOf);
    if (conflict !== null) return { next: before, result: { kind: 'conflict', ...conflict } };
    const versions = raised(before.versions, batch);
    for (const { key, text } of batch.mutations) {
      if (text === null) statements.remove.run(key.space, key.kind, key.id);
      else statements.put.run(key.space, key.kind, key.id, versions[key.space], text);
    }
    let { history } = before;
    for (const draft of batch.history) {
      const entry = chained(history, draft);
      statements.append.run(entry.sequence, entry.subject, canonicalJson(entry));
      history = entry;
    }
    const generations = batch.mutations.map(({ key }) => versions[key.space]);
    return {
      next: { versions, history: { sequence: history.sequence, digest: history.digest } },
      result: { kind: 'committed', stateVersion: versions.catalogue, generations },
    };
  };

  /** After an uncertain write only the file itself knows: it is read again from the disk, or no longer at all. */
  const reopen = (): void => {
    open.close();
    try {
      open = openDatabase(file, { mayCreate: false, maxBytes });
      head = readHead(open);
      statements = prepared(open);
    } catch {
      // The connection stays closed: every later operation is a fault.
    }
  };

  const together = (batches: readonly EncodedBatch[]): readonly Applied[] => {
    let next = head;
    const results: CommitResult[] = [];
    open.exec('BEGIN IMMEDIATE');
    try {
      for (const batch of batches) {
        const applied = apply(next, batch);
        next = applied.next;
        results.push(applied.result);
      }
      writeHead(open, next);
    } catch (error) {
      rollback(open);
      throw error;
    }
    try {
      open.exec('COMMIT');
    } catch (error) {
      if (isFull(error)) {
        rollback(open);
        throw error;
      }
      reopen();
      const because = writeFault(error).message;
      return results.map((result) => (result.kind === 'committed' ? { kind: 'unknown', because } : result));
    }
    head = next;
    return results;
  };

  const commit: Database['commit'] = (batches) => {
    try {
      return together(batches);
    } catch (error) {
      // One batch that the disk refuses takes no other down with it.
      return batches.length > 1 ? batches.flatMap((batch) => commit([batch])) : [writeFault(error)];
    }
  };

  return {
    commit,
    get(key) {
      const row = statements.get.get(key.space, key.kind, key.id);
      return row === undefined ? null : rowOf(row);
    },
    list: ({ space, kind, prefix, after, limit }) =>
      // Ids are visible ASCII, so DEL sorts behind every id that has the prefix.
      statements.list.all(space, kind, prefix, `${prefix}\x7f`, after, limit).map(rowOf),
    history: ({ subject, after, limit, newestFirst }) =>
      statements.history[newestFirst ? 'newest' : 'oldest'][subject === null ? 'ofAll' : 'ofOne']
        .all(...(subject === null ? [] : [subject]), after ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0), limit)
        .map((row) => ({ sequence: Number(row['sequence']), text: String(row['entry']) })),
    stateVersion: () => head.versions.catalogue,
    verifyHistory: () => verifyChain(open, EMPTY_HISTORY).sequence,
    async backup(to) {
      if (existsSync(to)) throw new StoreFault('store-write-failed', `There is a file ${to} already.`);
      const draft = `${to}.draft`;
      removeFile(draft);
      createPrivateFile(draft);
      try {
        await copy(file, draft);
        openDatabase(draft, { mayCreate: false, maxBytes }).close();
        publishFile(draft, to);
      } catch (error) {
        removeFile(draft);
        throw writeFault(error);
      }
    },
    close() {
      if (open.isOpen) open.close();
    },
  };
}

/** One long read transaction of a connection of its own: what is written meanwhile neither enters nor disturbs it. */
async function copy(file: string, to: string): Promise<void> {
  const source = new DatabaseSync(file, { readOnly: true });
  try {
    await backup(source, to, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

function rollback(open: DatabaseSync): void {
  if (open.isTransaction) open.exec('ROLLBACK');
}

const rowOf = (row: Record<string, unknown>): Row => ({
  id: String(row['id']),
  generation: Number(row['generation']),
  text: String(row['value']),
});

function prepared(open: DatabaseSync) {
  return {
    get: open.prepare('SELECT id, generation, value FROM record WHERE space = ? AND kind = ? AND id = ?'),
    put: open.prepare('INSERT OR REPLACE INTO record (space, kind, id, generation, value) VALUES (?, ?, ?, ?, ?)'),
    remove: open.prepare('DELETE FROM record WHERE space = ? AND kind = ? AND id = ?'),
    list: open.prepare(
      `SELECT id, generation, value FROM record
       WHERE space = ? AND kind = ? AND id >= ? AND id < ? AND id > ? ORDER BY id LIMIT ?`,
    ),
    append: open.prepare('INSERT INTO history (sequence, subject, entry) VALUES (?, ?, ?)'),
    history: {
      oldest: historyStatements(open, '>', 'ASC'),
      newest: historyStatements(open, '<', 'DESC'),
    },
  };
}

function historyStatements(open: DatabaseSync, behind: '<' | '>', order: 'ASC' | 'DESC') {
  const page = `sequence ${behind} ? ORDER BY sequence ${order} LIMIT ?`;
  return {
    ofAll: open.prepare(`SELECT sequence, entry FROM history WHERE ${page}`),
    ofOne: open.prepare(`SELECT sequence, entry FROM history WHERE subject = ? AND ${page}`),
  };
}
