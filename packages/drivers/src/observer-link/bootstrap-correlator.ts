import type { Correlation, ObserverEvent, ObserverPort } from '@idunn/authority';
import {
  absent,
  type Clock,
  digestJson,
  type Header,
  type Outcome,
  ok,
  type RecordKey,
  type RecordKind,
  type RecordStore,
  type RecordValue,
  refusal,
  refused,
  seen,
  type Timers,
} from '@idunn/kernel';
import {
  correlate,
  decidePublication,
  type IncarnationKey,
  type IncarnationRecord,
  incarnationKey,
  incarnationRecordSchema,
  type ObserverRequest,
  type Presence,
} from '@idunn/readiness';
import { bare, wordOf } from './correlations.ts';

/** The kind that the daemon's store is opened with beside its others. */
export const BOOTSTRAP_KIND: RecordKind = {
  space: 'journal',
  kind: 'bootstrap-incarnation',
  versions: { 'idunn.observed-incarnation/v1': incarnationRecordSchema },
};

const recordKey = (id: string): RecordKey => ({ space: BOOTSTRAP_KIND.space, kind: BOOTSTRAP_KIND.kind, id });

export interface BootstrapOptions {
  /** The observer's own target: the only one that the daemon may correlate itself. */
  readonly target: string;
  readonly audience: Header['audience'];
  /** The service signers of that target. */
  readonly anchors: readonly { readonly keyId: string; readonly publicKey: string }[];
  /** Opened with `BOOTSTRAP_KIND`. */
  readonly store: RecordStore;
  readonly clock: Clock;
  readonly timers: Timers;
}

export interface BootstrapCorrelator extends ObserverPort {
  /**
   * Takes a presence of the lease channel, which has checked its signatures, its order and the process that it came
   * from. Presences of other targets are not looked at.
   */
  hear(presence: Presence): void;
  close(): void;
}

/**
 * The daemon's own correlation of the observer's target, by the same rules, so that a fleet can begin and a broken
 * observer can be replaced. Its receipts are named `bootstrap:…` and never pass for an observer's. Throws
 * `StoreFault`.
 */
export async function createBootstrapCorrelator(options: BootstrapOptions): Promise<BootstrapCorrelator> {
  const { target, audience, store, clock, timers } = options;
  const records = new Map<IncarnationKey, IncarnationRecord>();
  const heard = new Map<string, { readonly presence: Presence; readonly receivedAtMs: number }>();
  const told = new Map<IncarnationKey, Correlation>();
  const staleTimers = new Map<IncarnationKey, () => void>();
  const listeners: ((event: ObserverEvent) => void)[] = [];
  for (const { key, value } of await store.list(BOOTSTRAP_KIND.space, BOOTSTRAP_KIND.kind)) {
    const record = incarnationRecordSchema.parse(value);
    const incarnation = incarnationKey(record.expected);
    if (key.id === incarnation) records.set(incarnation, record);
  }

  function correlationOf(key: IncarnationKey, record: IncarnationRecord): Correlation {
    const current = record.current;
    if (current === null) return bare(key, null);
    const { activation } = current.activation;
    const word = heard.get(activation);
    const presence = word === undefined ? null : { ...word, digest: digestJson(word.presence) };
    const { present, disagreements, obstacles } = correlate({
      key,
      expected: record.expected,
      activation: current.activation,
      observed: current.observed,
      presence,
      nowMs: clock.monotonicMs(),
    });
    if (present === null) return bare(key, activation);
    const { state, epoch, sequence, fresh, digest } = present;
    const observedAtMs = word?.receivedAtMs ?? 0;
    const before = told.get(key)?.ready ?? null;
    const stands = before?.activation === activation && before.epoch === epoch;
    const receipt = `bootstrap:${digestJson({ incarnation: key, activation, epoch, sequence, presence: digest })}`;
    return {
      incarnation: key,
      activation,
      present: { state, epoch, sequence, observedAtMs, fresh },
      ready: obstacles.length > 0 ? null : stands ? before : { receipt, activation, epoch, sequence, observedAtMs },
      disagreements,
    };
  }

  function settle(key: IncarnationKey): void {
    const record = records.get(key);
    const before = told.get(key);
    staleTimers.get(key)?.();
    staleTimers.delete(key);
    if (record === undefined) return void told.delete(key);
    const correlation = correlationOf(key, record);
    told.set(key, correlation);
    if (correlation.present?.fresh) {
      const ageMs = clock.monotonicMs() - correlation.present.observedAtMs;
      const leftMs = Math.max(0, Math.ceil(record.expected.health.freshnessMs - ageMs)) + 1;
      staleTimers.set(
        key,
        timers.after(leftMs, () => settle(key)),
      );
    }
    if (before !== undefined && wordOf(before) === wordOf(correlation)) return;
    for (const listener of listeners) listener({ kind: 'correlation', correlation });
  }

  async function ask(request: ObserverRequest): Promise<Outcome<'acknowledged'>> {
    const anchor = { schema: 'idunn.trust-anchor/v1', keys: options.anchors } as const;
    const decided = decidePublication(
      {
        audience,
        incarnations: records.size,
        incarnation: (key) => records.get(key) ?? null,
        anchor: (of) => (of === target ? anchor : null),
      },
      request,
    );
    if (!decided.ok) return decided;
    const change = decided.value;
    if (change.kind !== 'incarnation') return ok('acknowledged');
    const next = change.next as unknown as RecordValue | null;
    const result = await store.commit({ mutations: [{ key: recordKey(change.key), expect: 'any', next }] });
    if (result.kind !== 'committed') {
      return refused(refusal('observer-unreachable', `${change.key} could not be recorded: ${result.kind}.`));
    }
    if (change.next === null) records.delete(change.key);
    else records.set(change.key, change.next);
    forgetPast();
    settle(change.key);
    return ok('acknowledged');
  }

  /** Only current activations are remembered, and the one that may become current next (I5). */
  function forgetPast(): void {
    const spent = new Set([...records.values()].flatMap((record) => record.spent));
    for (const activation of heard.keys()) if (spent.has(activation)) heard.delete(activation);
  }

  return {
    publishExpected: (incarnation, expected) => ask({ kind: 'publish-expected', incarnation, expected }),
    publishActivation: (activation, observed) => ask({ kind: 'publish-activation', activation, observed }),
    demote: (incarnation, activation) => ask({ kind: 'demote', incarnation, activation }),
    withdraw: (incarnation) => ask({ kind: 'withdraw', incarnation }),
    read(key) {
      const record = records.get(key);
      return record === undefined ? absent : seen(correlationOf(key, record));
    },
    subscribe(listener) {
      listeners.push(listener);
    },
    hear(presence) {
      if (presence.target !== target) return;
      const before = heard.get(presence.activation)?.presence.header.sequence ?? 0;
      if (presence.header.sequence <= before) return; // A replay (I5).
      heard.delete(presence.activation);
      heard.set(presence.activation, { presence, receivedAtMs: clock.monotonicMs() });
      if (heard.size > MAX_HEARD) for (const oldest of [...heard.keys()].slice(0, 1)) heard.delete(oldest);
      for (const [key, record] of records) {
        if (record.current?.activation.activation === presence.activation) settle(key);
      }
    },
    close() {
      for (const cancel of staleTimers.values()) cancel();
    },
  };
}

/** Most activations of the observer's target whose newest presence is kept. */
const MAX_HEARD = 16;
