import {
  type Batch,
  type CommitResult,
  type HistoryDraft,
  type RecordStore,
  type StoredRecord,
  StoreFault,
} from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import type { EnginePorts } from '../../ports/engine-ports.ts';
import { incidentSchema } from '../../records/incident.ts';
import type { EngineEvent, IncidentEvent } from '../api.ts';
import { IncidentBook } from '../incident-book.ts';
import { Journal } from '../journal.ts';

/** No step of a daemon that died is taken any more, and none of its questions is answered. */
const never = (): Promise<never> => new Promise(() => undefined);

/** What becomes of a batch whose answer is lost. */
export const LOST = ['written', 'not written', 'written, and not read back'] as const;
type Lost = (typeof LOST)[number];

/** What is durable, and what arrived at somebody who is told, as daemons come and go. */
export function incidentBench() {
  const time = new FakeTime();
  const records = new Map<string, StoredRecord>();
  const history: HistoryDraft[] = [];
  const arrived: IncidentEvent[] = [];
  const told: string[] = [];
  const faults: unknown[] = [];
  let ids = 0;
  let generations = 0;
  let lost: Lost | null = null;
  let isDeaf = false;
  let isFull = false;
  let meanwhile: (() => void) | null = null;

  function commit({ mutations, history: drafts = [] }: Batch): CommitResult {
    const answer = lost;
    lost = null;
    isDeaf = answer === 'written, and not read back';
    if (isFull) throw new StoreFault('store-full', 'the disk is full');
    if (answer === 'not written') return { kind: 'unknown', because: 'nothing was written' };
    for (const { key, expect } of mutations) {
      const actual = records.get(key.id)?.generation ?? 'absent';
      if (expect !== 'any' && expect !== actual) return { kind: 'conflict', key, actual };
    }
    generations += 1;
    for (const { key, next } of mutations) {
      if (next === null) records.delete(key.id);
      else records.set(key.id, { key, generation: generations, value: incidentSchema.parse(next) });
    }
    history.push(...drafts);
    if (answer !== null) return { kind: 'unknown', because: 'the answer was lost' };
    return { kind: 'committed', stateVersion: 0, generations: mutations.map(() => generations) };
  }

  /** `takes`: whoever is told answers. It dies at its `diesAt`th step, before or after what is durable or arrives. */
  function daemon({ takes = (): boolean => true, keepsEnds = true, diesAt = Number.POSITIVE_INFINITY } = {}) {
    let steps = 0;
    let dead = false;
    const step = (): boolean => {
      steps += 1;
      dead ||= steps >= diesAt;
      return !dead;
    };
    const store = {
      async get({ id }: { id: string }) {
        if (dead) return never();
        if (!isDeaf) return records.get(id) ?? null;
        isDeaf = false;
        throw new StoreFault('store-unreadable', 'the disk is away');
      },
      list: async () => (dead ? never() : [...records.values()].sort((a, b) => (a.key.id < b.key.id ? -1 : 1))),
      stateVersion: async () => 0,
      async commit(batch: Batch) {
        if (!step()) return never();
        const result = commit(batch);
        meanwhile?.();
        meanwhile = null;
        return step() ? result : never();
      },
    } as unknown as RecordStore;
    const hear = (event: EngineEvent): void => {
      if (dead || event.event !== 'incident') return;
      told.push(`${event.state} ${event.code}`);
      if (!takes() || !step()) return;
      arrived.push(event);
      if (step()) book.told(event.incident, event.state);
    };
    const fresh = (prefix: string): string => `${prefix}-${(ids += 1)}`;
    const ports = { clock: time.clock, timers: time, ids: { fresh } } as unknown as EnginePorts;
    const book = new IncidentBook(ports, new Journal(store), hear, (fault) => faults.push(fault), keepsEnds);
    return {
      book,
      get died() {
        return dead;
      },
      /** As a daemon begins: what is recorded, and then whatever was not taken. */
      async begin(): Promise<void> {
        await book.load();
        for (const event of book.untold()) hear(event);
      },
    };
  }

  /** Lets time pass, and everything that it brings about. */
  async function pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 500) {
      time.pass(Math.min(leftMs, 500));
      await new Promise(setImmediate);
    }
  }
  const lose = (how: Lost): void => {
    lost = how;
  };
  /** What happens while the next write is on its way. */
  const during = (work: () => void): void => {
    meanwhile = work;
  };
  const fill = (full: boolean): void => {
    isFull = full;
  };
  return { daemon, pass, lose, fill, during, records, history, arrived, told, faults };
}
