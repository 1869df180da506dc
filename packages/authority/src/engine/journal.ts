import {
  type CommitResult,
  canonicalJson,
  type HistoryDraft,
  type Mutation,
  type RecordKey,
  type RecordStore,
  type RecordValue,
} from '@idunn/kernel';
import { type KindName, keyOf, type RecordOf } from '../records/kinds.ts';

/** A record as it was read, with the generation that a change must find. */
export interface Held<T> {
  readonly value: T;
  readonly generation: number;
}

/** Typed access to the record store. Faults of the store are thrown on, and nothing is acted on after one (F28). */
export class Journal {
  readonly #store: RecordStore;

  constructor(store: RecordStore) {
    this.#store = store;
  }

  async read<K extends KindName>(kind: K, id: string): Promise<Held<RecordOf<K>> | null> {
    const stored = await this.#store.get(keyOf(kind, id));
    return stored === null ? null : { value: stored.value as unknown as RecordOf<K>, generation: stored.generation };
  }

  /** Every record of a kind, read in pages. */
  async all<K extends KindName>(kind: K): Promise<readonly Held<RecordOf<K>>[]> {
    const { space } = keyOf(kind, '');
    const found: Held<RecordOf<K>>[] = [];
    for (let after: string | undefined; ; ) {
      const page = await this.#store.list(space, kind, after === undefined ? { limit: PAGE } : { limit: PAGE, after });
      found.push(...page.map(({ value, generation }) => ({ value: value as unknown as RecordOf<K>, generation })));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return found;
      after = last.key.id;
    }
  }

  /** One compare-and-swap. An uncertain answer is settled by reading the first record back before anything follows. */
  async commit(mutations: readonly Mutation[], history: readonly HistoryDraft[]): Promise<CommitResult> {
    const result = await this.#store.commit({ mutations, history });
    if (result.kind !== 'unknown') return result;
    const first = mutations[0];
    if (first === undefined) return result;
    const stored = await this.#store.get(first.key);
    const written = canonicalJson(stored?.value ?? null) === canonicalJson(first.next);
    if (!written) return { kind: 'conflict', key: first.key, actual: stored?.generation ?? 'absent' };
    const generations = await Promise.all(
      mutations.map(async ({ key }) => (await this.#store.get(key))?.generation ?? 0),
    );
    return { kind: 'committed', stateVersion: await this.#store.stateVersion(), generations };
  }
}

const PAGE = 1_000;

export function put<K extends KindName>(
  kind: K,
  id: string,
  value: RecordOf<K> | null,
  expect: Mutation['expect'] = 'any',
): Mutation {
  const key: RecordKey = keyOf(kind, id);
  return { key, expect, next: value as unknown as RecordValue | null };
}
