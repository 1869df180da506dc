import type { Digest } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { IncarnationRecord } from '../records/content.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { Journal } from './journal.ts';

/** Plans and incarnations kept in memory; they never change under their digests. */
const LIBRARY_LIMIT = 4_096;

/** Content-addressed documents, read once. */
export class Library {
  readonly #journal: Journal;
  readonly #plans = new Map<Digest, Plan>();
  readonly #incarnations = new Map<string, IncarnationRecord>();
  /** By the state that names them: a record never changes, the next one is another. */
  readonly #shelves = new WeakMap<object, { readonly roots: readonly unknown[]; readonly shelf: Shelf }>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  async plan(digest: Digest): Promise<Plan | null> {
    const known = this.#plans.get(digest);
    if (known !== undefined) return known;
    const read = await this.#journal.read('plan', digest);
    if (read === null) return null;
    remember(this.#plans, digest, read.value.plan);
    return read.value.plan;
  }

  async incarnation(key: string): Promise<IncarnationRecord | null> {
    const known = this.#incarnations.get(key);
    if (known !== undefined) return known;
    const read = await this.#journal.read('incarnation', key);
    if (read === null) return null;
    remember(this.#incarnations, key, read.value);
    return read.value;
  }

  /** Every document that the records at hand name; looked up again only when one of them is another. */
  async shelf(tx: TransactionRecord | null, target: TargetRecord): Promise<Shelf> {
    const roots = [tx?.state ?? null, target.admitted, target.stranded];
    const known = tx === null ? undefined : this.#shelves.get(tx.state);
    if (known !== undefined && roots.every((root, index) => root === known.roots[index])) return known.shelf;
    const shelf = await this.#fill(roots);
    if (tx !== null && shelf.whole) this.#shelves.set(tx.state, { roots, shelf });
    return shelf;
  }

  async #fill(roots: readonly unknown[]): Promise<Shelf & { readonly whole: boolean }> {
    const plans: Record<Digest, Plan> = {};
    const incarnations: Record<string, IncarnationRecord> = {};
    const named = referencesIn(roots);
    let whole = true;
    for (const digest of named.plans) {
      const plan = await this.plan(digest);
      if (plan === null) whole = false;
      else plans[digest] = plan;
    }
    for (const key of named.incarnations) {
      const incarnation = await this.incarnation(key);
      if (incarnation === null) whole = false;
      else incarnations[key] = incarnation;
    }
    return { plans, incarnations, whole };
  }
}

export interface Shelf {
  readonly plans: Readonly<Record<Digest, Plan>>;
  readonly incarnations: Readonly<Record<string, IncarnationRecord>>;
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > LIBRARY_LIMIT && oldest.done !== true) map.delete(oldest.value);
}

/** The plan digests and incarnation keys that a state names, wherever in it they stand. */
function referencesIn(roots: readonly unknown[]): { plans: Set<Digest>; incarnations: Set<string> } {
  const plans = new Set<Digest>();
  const incarnations = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const name in value) {
      const item = (value as Readonly<Record<string, unknown>>)[name];
      if (name === 'plan' && typeof item === 'string') plans.add(item as Digest);
      else if (name === 'incarnation' && typeof item === 'string') incarnations.add(item);
      else if (typeof item === 'object') visit(item);
    }
  };
  visit(roots);
  return { plans, incarnations };
}
