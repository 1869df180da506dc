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
  /** Several ask for a plan at the same time when an engine begins. */
  readonly #reading = new Map<Digest, Promise<Plan | null>>();
  readonly #incarnations = new Map<string, IncarnationRecord>();
  /** By the state that names them: a record never changes, the next one is another. */
  readonly #shelves = new WeakMap<object, Pick<TargetRecord, 'admitted' | 'stranded'> & { readonly shelf: Shelf }>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** A plan that was read before. */
  planAtHand(digest: Digest): Plan | null {
    return this.#plans.get(digest) ?? null;
  }

  async plan(digest: Digest): Promise<Plan | null> {
    const known = this.planAtHand(digest);
    if (known !== null) return known;
    const reading = this.#reading.get(digest) ?? this.#read(digest).finally(() => this.#reading.delete(digest));
    this.#reading.set(digest, reading);
    return reading;
  }

  async #read(digest: Digest): Promise<Plan | null> {
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

  /** Every document that the records at hand name, where none of them is another than when they were looked up. */
  shelfAtHand({ state }: TransactionRecord, { admitted, stranded }: TargetRecord): Shelf | null {
    const known = this.#shelves.get(state);
    return known?.admitted === admitted && known.stranded === stranded ? known.shelf : null;
  }

  async shelf({ state }: TransactionRecord, { admitted, stranded }: TargetRecord): Promise<Shelf> {
    const shelf = await this.#fill([state, admitted, stranded]);
    if (shelf.whole) this.#shelves.set(state, { admitted, stranded, shelf });
    return shelf;
  }

  async #fill(roots: readonly unknown[]): Promise<Shelf & { readonly whole: boolean }> {
    const plans: Record<Digest, Plan> = {};
    const incarnations: Record<string, IncarnationRecord> = {};
    const named = referencesIn(roots);
    let whole = true;
    for (const digest of named.plans) {
      const plan = this.planAtHand(digest) ?? (await this.plan(digest));
      if (plan === null) whole = false;
      else plans[digest] = plan;
    }
    for (const key of named.incarnations) {
      const incarnation = this.#incarnations.get(key) ?? (await this.incarnation(key));
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
    for (const [name, item] of Object.entries(value)) {
      if (name === 'plan' && typeof item === 'string') plans.add(item as Digest);
      else if (name === 'incarnation' && typeof item === 'string') incarnations.add(item);
      else if (typeof item === 'object') visit(item);
    }
  };
  visit(roots);
  return { plans, incarnations };
}
