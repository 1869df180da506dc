import type { KindName, RecordOf } from '@idunn/authority';
import type { RecordStore, RecordValue, StoredRecord } from '@idunn/kernel';

/** What is durable: the records by kind and id. The history is written only, and left out. */
export type Records = ReadonlyMap<string, RecordValue>;

/** The one engine of one target meets no other writer: every record is of the first generation. */
const GENERATION = 1;

export const nameOf = (kind: string, id: string): string => `${kind} ${id}`;

/** The record store over records that are replaced, never changed. */
export function smallStore(held: { records: Records }): RecordStore {
  const stored = (kind: string, id: string, value: RecordValue): StoredRecord => ({
    key: { space: 'journal', kind, id },
    generation: GENERATION,
    value,
  });
  return {
    get: async ({ kind, id }) => {
      const value = held.records.get(nameOf(kind, id));
      return value === undefined ? null : stored(kind, id, value);
    },
    list: async (_space, kind) =>
      [...held.records]
        .filter(([name]) => name.startsWith(`${kind} `))
        .map(([name, value]) => stored(kind, name.slice(kind.length + 1), value)),
    commit: async ({ mutations }) => {
      const next = new Map(held.records);
      for (const { key, expect, next: value } of mutations) {
        const name = nameOf(key.kind, key.id);
        const actual = next.has(name) ? GENERATION : 'absent';
        if (expect !== 'any' && expect !== actual) return { kind: 'conflict', key, actual };
        if (value === null) next.delete(name);
        else next.set(name, value);
      }
      held.records = next;
      return { kind: 'committed', stateVersion: GENERATION, generations: mutations.map(() => GENERATION) };
    },
    history: async () => [],
    stateVersion: async () => GENERATION,
    close: async () => undefined,
  };
}

/** A record of a kind that the caller knows the shape of. */
export const recordOf = <K extends KindName>(records: Records, kind: K, id: string): RecordOf<K> | null =>
  (records.get(nameOf(kind, id)) as unknown as RecordOf<K> | undefined) ?? null;
