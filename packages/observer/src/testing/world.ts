import {
  type CommitResult,
  type Envelope,
  type Json,
  openEnvelope,
  type RecordStore,
  type RecordValue,
  type StoredRecord,
  signEnvelope,
} from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import {
  ackSchema,
  batchSchema,
  LINK_SCHEMAS,
  type ObserverRequest,
  presentStatementSchema,
  readyReceiptSchema,
  type Standing,
} from '@idunn/readiness';
import { audience, authorityKey, observerKey, type SampleWorkload, verifierOf } from '@idunn/readiness/testing';
import { type Book, openBook } from '../book/book.ts';
import type { Trails } from '../book/trails.ts';
import { createObserver, type Incoming, type Observer } from '../observer.ts';
import { createVoice } from '../voice/voice.ts';

/** A store in memory: what outlives a pretended death of the observer. */
export function memoryStore(records: Map<string, RecordValue> = new Map()): RecordStore & { refuse: boolean } {
  const idOf = (kind: string, id: string) => `${kind}/${id}`;
  const stored = (kind: string, id: string, value: RecordValue): StoredRecord => ({
    key: { space: 'journal', kind, id },
    generation: 1,
    value,
  });
  return {
    refuse: false,
    async get({ kind, id }) {
      const value = records.get(idOf(kind, id));
      return value === undefined ? null : stored(kind, id, value);
    },
    async list(_space, kind, { after = '', limit = 10_000 } = {}) {
      return [...records]
        .filter(([id]) => id.startsWith(`${kind}/`))
        .map(([id, value]) => stored(kind, id.slice(kind.length + 1), value))
        .filter(({ key }) => key.id > after)
        .slice(0, limit);
    },
    async commit({ mutations }): Promise<CommitResult> {
      if (this.refuse) return { kind: 'unknown', because: 'the disk is full' };
      for (const { key, next } of mutations) {
        if (next === null) records.delete(idOf(key.kind, key.id));
        else records.set(idOf(key.kind, key.id), structuredClone(next));
      }
      return { kind: 'committed', stateVersion: 1, generations: mutations.map(() => 1) };
    },
    history: async () => [],
    stateVersion: async () => 1,
    close: async () => undefined,
  };
}

export function memoryTrails(kept: Map<string, { sequence: number; epoch: number }> = new Map()): Trails {
  return {
    read: (activation) => kept.get(activation) ?? null,
    write: (activation, trail) => void kept.set(activation, trail),
    forget: (activation) => void kept.delete(activation),
    close: () => undefined,
  };
}

/** What the observer told, opened with its key. */
export type Told =
  | { readonly kind: 'present'; readonly state: string; readonly fresh: boolean; readonly codes: readonly string[] }
  | { readonly kind: 'ready'; readonly epoch: number | null; readonly sequence: number }
  | { readonly kind: 'refresh' | 'roster' | 'roster-end'; readonly standings: readonly Standing[] }
  | { readonly kind: 'ack'; readonly code: string | null };

export function openTold(line: string): Told & { readonly statementSequence: number } {
  const { type, envelope } = JSON.parse(line) as { type: keyof typeof LINK_SCHEMAS; envelope: Envelope };
  const want = { envelope, keys: [verifierOf(observerKey)], audience, schema: LINK_SCHEMAS[type] };
  const must = <T>(opened: { ok: true; value: { payload: T } } | { ok: false; refusal: { reason: string } }): T => {
    if (!opened.ok) throw new Error(opened.refusal.reason);
    return opened.value.payload;
  };
  switch (type) {
    case 'statement': {
      const { header, state, fresh, disagreements } = must(openEnvelope({ ...want, shape: presentStatementSchema }));
      const codes = disagreements.map(({ code }) => code);
      return { kind: 'present', state, fresh, codes, statementSequence: header.sequence };
    }
    case 'receipt': {
      const { header, epoch, presenceSequence } = must(openEnvelope({ ...want, shape: readyReceiptSchema }));
      return { kind: 'ready', epoch, sequence: presenceSequence, statementSequence: header.sequence };
    }
    case 'batch': {
      const { header, kind, standings } = must(openEnvelope({ ...want, shape: batchSchema }));
      return { kind, standings, statementSequence: header.sequence };
    }
    case 'ack': {
      const { header, refusal } = must(openEnvelope({ ...want, shape: ackSchema }));
      return { kind: 'ack', code: refusal?.code ?? null, statementSequence: header.sequence };
    }
    default:
      throw new Error(`the observer does not push a ${type}`);
  }
}

/** The observer over fakes, with the daemon's and the workloads' hands. */
export class World {
  readonly time: FakeTime;
  readonly records: Map<string, RecordValue>;
  readonly trails: Map<string, { sequence: number; epoch: number }>;
  readonly store: ReturnType<typeof memoryStore>;
  readonly told: string[] = [];
  readonly logged: string[] = [];
  readonly failures: unknown[] = [];
  observer: Observer;
  book: Book;
  #requestSequence = 0;

  private constructor(time: FakeTime, before?: World) {
    this.time = time;
    this.records = before?.records ?? new Map();
    this.trails = before?.trails ?? new Map();
    this.store = memoryStore(this.records);
    this.observer = undefined as unknown as Observer;
    this.book = undefined as unknown as Book;
  }

  /** `before` is an observer that was killed: its disk is all that is left of it. */
  static async open(before?: World, time: FakeTime = before?.time ?? new FakeTime()): Promise<World> {
    const world = new World(time, before);
    world.book = await openBook(world.store, audience);
    world.#requestSequence = world.book.requestSequence;
    world.observer = createObserver({
      clock: time.clock,
      timers: time,
      audience,
      book: world.book,
      trails: memoryTrails(world.trails),
      voice: createVoice({
        key: observerKey,
        audience,
        era: world.book.era,
        self: { incarnation: `observer@sha256:${'0'.repeat(64)}`, activation: 'activation-observer' },
      }),
      tell: (...lines) => world.told.push(...lines),
      log: (text) => world.logged.push(text),
      fail: (cause) => world.failures.push(cause),
    });
    return world;
  }

  /** What was told since the last look. */
  news(): readonly Told[] {
    return this.told.splice(0).map((line) => {
      const { statementSequence: _, ...told } = openTold(line);
      return told;
    });
  }

  /** The code of the signed acknowledgement; `null` when it was carried out. */
  request(request: ObserverRequest, sequence = ++this.#requestSequence): Promise<string | null> {
    const header = {
      schema: LINK_SCHEMAS.request,
      issuer: authorityKey.keyId,
      audience,
      subject: audience.fleet,
      requestId: `request-${sequence}`,
      sequence,
    };
    return new Promise((resolve) => {
      this.observer.instruct(request, header, (line) => {
        const told = openTold(line);
        resolve(told.kind === 'ack' ? told.code : 'no ack');
      });
    });
  }

  async publish(workload: SampleWorkload): Promise<void> {
    const { target, anchor, key, expected, activation, observed } = workload;
    const requests: ObserverRequest[] = [
      { kind: 'anchor', target, keys: [anchor] },
      { kind: 'publish-expected', incarnation: key, expected },
      { kind: 'publish-activation', activation, observed },
    ];
    for (const request of requests) {
      const code = await this.request(request);
      if (code !== null) throw new Error(code);
    }
  }

  /** The code of the refusal, `accepted`, or `early` when no such activation is current. */
  hear(line: string): string {
    const { envelope } = JSON.parse(line) as { envelope: Envelope };
    const { header } = JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as {
      header: { subject: string; sequence: number };
    };
    let answer = 'accepted';
    const incoming: Incoming = {
      envelope,
      claimed: header.subject,
      sequence: header.sequence,
      receivedAtMs: this.time.clock.monotonicMs(),
      answer: (refused) => {
        answer = refused?.code ?? 'accepted';
      },
    };
    return this.observer.hear(incoming) === 'heard' ? answer : 'early';
  }
}

/** A presence line with another payload field, signed by the keys given. */
export const signedLine = (payload: Json, keys: Parameters<typeof signEnvelope>[1]): string =>
  JSON.stringify({ type: 'presence', envelope: signEnvelope(payload, keys) });
