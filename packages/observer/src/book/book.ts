import {
  type Header,
  type Mutation,
  type Outcome,
  type RecordStore,
  type StoredRecord,
  StoreFault,
} from '@idunn/kernel';
import {
  type AnchorRecord,
  decidePublication,
  type IncarnationKey,
  type IncarnationRecord,
  incarnationKey,
  type ObserverRequest,
  type PublicationChange,
} from '@idunn/readiness';
import { type ProgressRecord, recordKey } from './records.ts';

/** What the authority told the observer, in memory and on disk. */
export interface Book {
  readonly era: number;
  readonly requestSequence: number;
  incarnations(): Iterable<readonly [IncarnationKey, IncarnationRecord]>;
  incarnation(key: IncarnationKey): IncarnationRecord | null;
  anchor(target: string): AnchorRecord | null;
  /**
   * Carries out a request that came under a rising `sequence`. What is read from the book shows it at once; `durable`
   * resolves when it is on disk, and only then may it be acknowledged. It rejects when the disk refused it: the
   * observer then ends, for its memory is ahead of its store (F28).
   */
  carryOut(
    request: ObserverRequest,
    sequence: number,
  ): { readonly outcome: Outcome<PublicationChange>; readonly durable: Promise<void> };
}

const PROGRESS = recordKey('progress', 'observer');

/** Loads the book and begins a new era, durably. Throws `StoreFault`. */
export async function openBook(store: RecordStore, audience: Header['audience']): Promise<Book> {
  const incarnations = new Map<IncarnationKey, IncarnationRecord>();
  const anchors = new Map<string, AnchorRecord>();
  for await (const { key, value } of everyRecord(store, 'incarnation')) {
    const record = value as unknown as IncarnationRecord;
    const incarnation = incarnationKey(record.expected);
    // Under a bare target, or under any key but its own, a record is none.
    if (key.id === incarnation) incarnations.set(incarnation, record);
  }
  for await (const { key, value } of everyRecord(store, 'anchor')) {
    anchors.set(key.id, value as unknown as AnchorRecord);
  }
  const before = (await store.get(PROGRESS))?.value as ProgressRecord | undefined;
  const era = (before?.era ?? 0) + 1;
  let requestSequence = before?.requestSequence ?? 0;
  await write(store, [progress(era, requestSequence)]);

  return {
    era,
    get requestSequence() {
      return requestSequence;
    },
    incarnations: () => incarnations.entries(),
    incarnation: (key) => incarnations.get(key) ?? null,
    anchor: (target) => anchors.get(target) ?? null,
    carryOut(request, sequence) {
      requestSequence = sequence;
      const view = {
        audience,
        incarnations: incarnations.size,
        incarnation: (key: IncarnationKey) => incarnations.get(key) ?? null,
        anchor: (target: string) => anchors.get(target) ?? null,
      };
      const outcome = decidePublication(view, request);
      if (outcome.ok) apply(outcome.value, incarnations, anchors);
      // Refused ones too: their sequence was taken, and is worth nothing a second time (I5).
      return { outcome, durable: write(store, [...mutationsOf(outcome), progress(era, sequence)]) };
    },
  };
}

function apply(
  change: PublicationChange,
  incarnations: Map<IncarnationKey, IncarnationRecord>,
  anchors: Map<string, AnchorRecord>,
): void {
  switch (change.kind) {
    case 'anchor':
      anchors.set(change.target, change.next);
      return;
    case 'incarnation':
      if (change.next === null) incarnations.delete(change.key);
      else incarnations.set(change.key, change.next);
      return;
    case 'none':
      return;
  }
}

function mutationsOf(outcome: Outcome<PublicationChange>): readonly Mutation[] {
  if (!outcome.ok || outcome.value.kind === 'none') return [];
  const change = outcome.value;
  const key = change.kind === 'anchor' ? recordKey('anchor', change.target) : recordKey('incarnation', change.key);
  return [{ key, expect: 'any', next: change.next }];
}

const progress = (era: number, requestSequence: number): Mutation => ({
  key: PROGRESS,
  expect: 'any',
  next: { schema: 'idunn.observer-progress/v1', era, requestSequence } satisfies ProgressRecord,
});

/** An uncertain answer is a fault too: the next run reads what is really there. */
async function write(store: RecordStore, mutations: readonly Mutation[]): Promise<void> {
  const result = await store.commit({ mutations });
  if (result.kind !== 'committed') {
    const because = result.kind === 'unknown' ? result.because : 'another program wrote to it';
    throw new StoreFault('store-write-failed', `The observer's store was not written: ${because}.`);
  }
}

const PAGE = 1_000;

async function* everyRecord(store: RecordStore, kind: 'incarnation' | 'anchor'): AsyncGenerator<StoredRecord> {
  for (let after = ''; ; ) {
    const page = await store.list('journal', kind, { after, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.key.id;
  }
}
