import { catalogue, type HistoryDraft, type Moment, type Mutation, moment, StoreFault } from '@idunn/kernel';
import type { IncidentCode } from '../model/incident-code.ts';
import type { EnginePorts } from '../ports/engine-ports.ts';
import { type IncidentRecord, incidentKey } from '../records/incident.ts';
import type { EngineEvent, Incident, IncidentEvent } from './api.ts';
import { type Journal, put } from './journal.ts';
import { isoAt } from './show.ts';
import { StoreOutage } from './store-outage.ts';

/** A cause that ends within this was none to tell a person of. */
const OPEN_AFTER_MS = 1_000;
/** A cause that comes back within this has not ended: a daemon that starts anew looks at everything first. */
const CLOSE_AFTER_MS = 3_000;
/** Wait after the store could not be written; incidents are never what a target waits for. */
const AGAIN_MS = 5_000;
/** Incidents that are over and whose end was not told; beyond it the oldest are let go. The history keeps them all. */
export const CLOSED_LIMIT = 256;

export type Causes = ReadonlyMap<IncidentCode, string>;
/**
 * Who looks at what of a target: its actor, the stops on it, its route's certificates, the observer's verdicts; and of
 * the whole fleet, the links to the programs beside the daemon.
 */
export type Part = 'work' | 'stops' | 'certificates' | 'verdicts' | 'links';

/** What one part of the engine says of a target. */
interface Said {
  readonly causes: Causes;
  /** Codes of which it cannot say anything now: what is recorded of them stays as it is (I10). */
  readonly unsure: ReadonlySet<IncidentCode>;
}
const NOTHING: Said = { causes: new Map(), unsure: new Set() };

interface Kept {
  readonly record: IncidentRecord;
  readonly generation: number;
}

/**
 * The durable incidents of the fleet. They open and close by themselves, from what each target says is amiss now, and
 * every change is told once it is durable. Where somebody takes notices, the record of one that is over goes only when
 * its end was taken: what a daemon that died had not told, the next one tells. Written beside the targets' own
 * progress, which never waits for it.
 */
export class IncidentBook {
  readonly #ports: EnginePorts;
  readonly #journal: Journal;
  readonly #emit: (event: EngineEvent) => void;
  readonly #onFault: (fault: unknown) => void;
  readonly #keepsEnds: boolean;
  readonly #open = new Map<string, Kept>();
  /** Over, and its end was not taken by everybody who is told; by id, which is the record's key too. */
  readonly #closed = new Map<string, Kept>();
  /** What each part of the engine says is amiss, by target. */
  readonly #parts = new Map<string, Map<Part, Said>>();
  /** When a cause was first seen to differ from what is recorded, monotonic milliseconds. */
  readonly #since = new Map<string, { readonly atMs: number; readonly at: Moment }>();
  readonly #outage = new StoreOutage();
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;
  #dueMs = Number.POSITIVE_INFINITY;
  #isUncertain = false;
  #stopped = false;

  constructor(
    ports: EnginePorts,
    journal: Journal,
    emit: (event: EngineEvent) => void,
    onFault: (fault: unknown) => void,
    /** Somebody takes notices, and says so with `told`. */
    keepsEnds: boolean,
  ) {
    this.#keepsEnds = keepsEnds;
    this.#ports = ports;
    this.#journal = journal;
    this.#emit = emit;
    this.#onFault = onFault;
  }

  /** What an earlier engine opened stays open until its target was looked at. */
  async load(): Promise<void> {
    await this.#read();
    for (const key of this.#open.keys()) this.#differ(key, CLOSE_AFTER_MS);
  }

  async #read(): Promise<void> {
    const recorded = await this.#journal.all('incident');
    this.#open.clear();
    this.#closed.clear();
    // As they were written: of the ends that are kept the oldest stand first.
    for (const { value: record, generation } of recorded.toSorted((a, b) => a.generation - b.generation)) {
      if (record.closedAt === undefined)
        this.#open.set(incidentKey(record.target, record.code), { record, generation });
      else this.#closed.set(record.id, { record, generation });
    }
  }

  /** A write came to nothing, or was not heard to have come to something: that is told now (F27). */
  async #readAgain(): Promise<void> {
    const before = [...this.#open.values()].map(({ record }) => record);
    await this.#read();
    this.#isUncertain = false;
    const now = moment(this.#ports.clock);
    const after = [...this.#open.values()].map(({ record }) => record);
    const missing = (all: readonly IncidentRecord[], { id }: IncidentRecord): boolean =>
      all.every((one) => one.id !== id);
    for (const one of after.filter((one) => missing(before, one))) this.#emit(eventOf('opened', one, now));
    for (const one of before.filter((one) => missing(after, one))) {
      this.#emit(eventOf('closed', one, this.#closed.get(one.id)?.record.closedAt ?? now));
    }
  }

  /** What is amiss with a target now, all that this part of the engine sees, and what it cannot say now. */
  report(
    target: string,
    causes: Causes,
    part: Part = 'work',
    unsure: ReadonlySet<IncidentCode> = NOTHING.unsure,
  ): void {
    const parts = this.#parts.get(target);
    const before = parts?.get(part) ?? NOTHING;
    if (causes.size + unsure.size + before.causes.size + before.unsure.size === 0) return;
    this.#parts.set(target, new Map(parts).set(part, { causes, unsure }));
    for (const code of new Set([...before.causes.keys(), ...before.unsure, ...causes.keys(), ...unsure])) {
      this.#compare(target, code);
    }
  }

  /** What is amiss and what is open differ since now, or do not. */
  #compare(target: string, code: IncidentCode): void {
    const key = incidentKey(target, code);
    const amiss = this.causes(target).has(code);
    if (amiss === this.#open.has(key)) this.#since.delete(key);
    else this.#differ(key, amiss ? OPEN_AFTER_MS : CLOSE_AFTER_MS);
  }

  /** What is amiss with a target now; what is open and cannot be said now is so still. */
  causes(target: string): Causes {
    const said = [...(this.#parts.get(target)?.values() ?? [])];
    const doubted = said
      .flatMap(({ unsure }) => [...unsure])
      .flatMap((code) => {
        const kept = this.#open.get(incidentKey(target, code));
        return kept === undefined ? [] : [[code, kept.record.detail] as const];
      });
    return new Map([...doubted, ...said.flatMap(({ causes }) => [...causes])]);
  }

  /** Since when a cause is known, for people. */
  since(target: string, code: string): Moment | null {
    const key = incidentKey(target, code);
    return this.#open.get(key)?.record.openedAt ?? this.#since.get(key)?.at ?? null;
  }

  all(): readonly (Incident & { readonly id: string; readonly told: boolean })[] {
    const { open } = this.#outage;
    return [...[...this.#open.values()].map(({ record }) => record), ...(open === null ? [] : [open])]
      .sort((a, b) => a.openedAt.wallMs - b.openedAt.wallMs || (a.id < b.id ? -1 : 1))
      .map(({ id, code, target, detail, openedAt, told }) => ({
        id,
        told,
        code,
        subject: target,
        since: isoAt(openedAt),
        detail: this.causes(target).get(code) ?? detail,
        remedy: catalogue[code].remedy,
      }));
  }

  /** Every opening and closing that was not taken yet, of one incident in their order. */
  untold(): readonly IncidentEvent[] {
    return [...this.#closed.values(), ...this.#open.values()]
      .map(({ record }) => record)
      .sort((a, b) => a.openedAt.wallMs - b.openedAt.wallMs)
      .flatMap((record) => [
        ...(record.told ? [] : [eventOf('opened', record, record.openedAt)]),
        ...(record.closedAt === undefined ? [] : [eventOf('closed', record, record.closedAt)]),
      ]);
  }

  /** The notifiers have it: a daemon that starts anew does not tell them again. */
  told(id: string, state: IncidentEvent['state']): void {
    this.#later(async () => {
      const over = this.#closed.get(id);
      if (state === 'closed') return over === undefined ? undefined : this.#forget(id, over);
      const [key, kept] = [...this.#open].find(([, { record }]) => record.id === id) ?? [id, over];
      if (kept === undefined) return;
      const record = { ...kept.record, told: true };
      const [generation] = await this.#commit([put('incident', key, record, kept.generation)], []);
      (over === undefined ? this.#open : this.#closed).set(key, { record, generation });
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await this.#writing;
  }

  #differ(key: string, afterMs: number): void {
    if (!this.#since.has(key))
      this.#since.set(key, { atMs: this.#ports.clock.monotonicMs(), at: moment(this.#ports.clock) });
    this.#wakeIn(afterMs);
  }

  #wakeIn(delayMs: number): void {
    const dueMs = this.#ports.clock.monotonicMs() + delayMs;
    if (this.#stopped || dueMs >= this.#dueMs) return;
    this.#cancelTimer?.();
    this.#dueMs = dueMs;
    this.#cancelTimer = this.#ports.timers.after(delayMs, () => {
      this.#dueMs = Number.POSITIVE_INFINITY;
      this.#cancelTimer = null;
      this.#later(() => this.#settle());
    });
  }

  #later(work: () => Promise<void>): void {
    const before = this.#writing;
    this.#writing = (async () => {
      await before;
      if (this.#stopped) return;
      try {
        if (this.#isUncertain) await this.#readAgain();
        await work();
      } catch (fault) {
        this.#isUncertain = true;
        // Told and tried again; no target waits for it.
        this.#onFault(fault);
        this.#failed(fault);
        this.#wakeIn(AGAIN_MS);
      }
    })();
  }

  #failed(fault: unknown): void {
    if (!(fault instanceof StoreFault)) return;
    const { ids, clock } = this.#ports;
    const opened = this.#outage.failed(fault.message, () => ids.fresh('inc'), moment(clock));
    if (opened !== null) this.#emit(eventOf('opened', opened, opened.openedAt));
  }

  /** Nothing is known to be well again before something was written. */
  async #recovers(): Promise<void> {
    const { open } = this.#outage;
    const now = moment(this.#ports.clock);
    if (open !== null) {
      await this.#commit(
        [],
        [historyOf('incident.opened', open, open.openedAt), historyOf('incident.closed', open, now)],
      );
      this.#emit(eventOf('closed', open, now));
    }
    this.#outage.over();
  }

  /** Writes every difference that has lasted, and comes back for those that may. */
  async #settle(): Promise<void> {
    await this.#settleAll();
    if (this.#outage.begun) await this.#recovers();
  }

  async #settleAll(): Promise<void> {
    const nowMs = this.#ports.clock.monotonicMs();
    for (const [key, { atMs, at }] of this.#since) {
      const target = key.slice(0, key.indexOf(':'));
      const code = key.slice(key.indexOf(':') + 1) as IncidentCode;
      const detail = this.causes(target).get(code);
      const kept = this.#open.get(key);
      if ((detail === undefined) === (kept === undefined)) {
        this.#since.delete(key);
        continue;
      }
      const restMs = atMs + (detail === undefined ? CLOSE_AFTER_MS : OPEN_AFTER_MS) - nowMs;
      if (restMs > 0) {
        this.#wakeIn(restMs);
        continue;
      }
      if (detail !== undefined) await this.#opens(key, { target, code, detail, at });
      else if (kept !== undefined) await this.#closes(key, kept);
      this.#since.delete(key);
      // It may have ended, or come back, while that was written.
      this.#compare(target, code);
    }
  }

  async #opens(
    key: string,
    { target, code, detail, at }: { target: string; code: IncidentCode; detail: string; at: Moment },
  ): Promise<void> {
    const id = this.#ports.ids.fresh('inc');
    const record: IncidentRecord = { schema: 'idunn.incident/v1', id, target, code, detail, openedAt: at, told: false };
    const now = moment(this.#ports.clock);
    const opened = historyOf('incident.opened', record, now);
    const [generation] = await this.#commit([put('incident', key, record, 'absent')], [opened]);
    this.#open.set(key, { record, generation });
    this.#emit(eventOf('opened', record, now));
  }

  /** That it is over is durable before anybody is told, and stays until they were. */
  async #closes(key: string, { record, generation }: Kept): Promise<void> {
    const closedAt = moment(this.#ports.clock);
    const closed = { ...record, closedAt };
    const gone = put('incident', key, null, generation);
    const history = [historyOf('incident.closed', record, closedAt)];
    if (this.#keepsEnds) {
      const [of] = await this.#commit([put('incident', record.id, closed, 'absent'), gone], history);
      this.#closed.set(record.id, { record: closed, generation: of });
    } else await this.#commit([gone], history);
    this.#open.delete(key);
    this.#emit(eventOf('closed', record, closedAt));
    const [oldest] = this.#closed;
    if (oldest !== undefined && this.#closed.size > CLOSED_LIMIT) await this.#forget(...oldest);
  }

  async #forget(id: string, { generation }: Kept): Promise<void> {
    await this.#commit([put('incident', id, null, generation)], []);
    this.#closed.delete(id);
  }

  /** Answers the generation of the first record. */
  async #commit(mutations: readonly Mutation[], history: readonly HistoryDraft[]): Promise<readonly [number]> {
    const result = await this.#journal.commit(mutations, history);
    if (result.kind === 'committed') return [result.generations[0] ?? 0];
    throw new StoreFault(
      'store-write-failed',
      `the incident ${mutations[0]?.key.id ?? 'of the store'}: ${result.kind}`,
    );
  }
}

function historyOf(
  kind: 'incident.opened' | 'incident.closed',
  { id, target, code, detail, openedAt, told }: IncidentRecord,
  { wallMs: atMs }: Moment,
): HistoryDraft {
  const body = { incident: id, code, detail, since: isoAt(openedAt), told };
  return { kind, subject: target, actor: 'idunn', tenant: 'local', atMs, body };
}

function eventOf(
  state: IncidentEvent['state'],
  { id: incident, target, code, detail }: IncidentRecord,
  at: Moment,
): IncidentEvent {
  const { remedy } = catalogue[code];
  return { event: 'incident', at: isoAt(at), target, transaction: null, state, incident, code, detail, remedy };
}
