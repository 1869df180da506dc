import { catalogue, type HistoryDraft, type Moment, type Mutation, moment, StoreFault } from '@idunn/kernel';
import type { IncidentCode } from '../model/incident-code.ts';
import type { EnginePorts } from '../ports/engine-ports.ts';
import { type IncidentRecord, incidentKey } from '../records/incident.ts';
import type { EngineEvent, Incident } from './api.ts';
import { type Journal, put } from './journal.ts';
import { isoAt } from './show.ts';

/** A cause that ends within this was none to tell a person of. */
const OPEN_AFTER_MS = 1_000;
/** A cause that comes back within this has not ended: a daemon that starts anew looks at everything first. */
const CLOSE_AFTER_MS = 3_000;
/** Wait after the store could not be written; incidents are never what a target waits for. */
const AGAIN_MS = 5_000;

export type Causes = ReadonlyMap<IncidentCode, string>;
/** Who looks at what of a target: its actor, the stops on it, its route's certificates, the observer's verdicts. */
export type Part = 'work' | 'stops' | 'certificates' | 'verdicts';
const NOTHING: Causes = new Map();

interface Kept {
  readonly record: IncidentRecord;
  readonly generation: number;
}

/**
 * The durable incidents of the fleet. They open and close by themselves, from what each target says is amiss now, and
 * every change is told once it is durable. Written beside the targets' own progress, which never waits for it.
 */
export class IncidentBook {
  readonly #ports: EnginePorts;
  readonly #journal: Journal;
  readonly #emit: (event: EngineEvent) => void;
  readonly #onFault: (fault: unknown) => void;
  readonly #open = new Map<string, Kept>();
  /** What each part of the engine says is amiss, by target. */
  readonly #parts = new Map<string, Map<Part, Causes>>();
  /** When a cause was first seen to differ from what is recorded, monotonic milliseconds. */
  readonly #since = new Map<string, { readonly atMs: number; readonly at: Moment }>();
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;
  #dueMs = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(
    ports: EnginePorts,
    journal: Journal,
    emit: (event: EngineEvent) => void,
    onFault: (fault: unknown) => void,
  ) {
    this.#ports = ports;
    this.#journal = journal;
    this.#emit = emit;
    this.#onFault = onFault;
  }

  /** What an earlier engine opened stays open until its target was looked at. */
  async load(): Promise<void> {
    for (const { value, generation } of await this.#journal.all('incident')) {
      this.#open.set(incidentKey(value.target, value.code), { record: value, generation });
      this.#differ(incidentKey(value.target, value.code), CLOSE_AFTER_MS);
    }
  }

  /** What is amiss with a target now, all that this part of the engine sees. */
  report(target: string, causes: Causes, part: Part = 'work'): void {
    const parts = this.#parts.get(target);
    const before = parts?.get(part) ?? NOTHING;
    if (causes.size === 0 && before.size === 0) return;
    this.#parts.set(target, new Map(parts).set(part, causes));
    for (const code of new Set([...before.keys(), ...causes.keys()])) {
      const key = incidentKey(target, code);
      const amiss = this.causes(target).has(code);
      if (amiss === this.#open.has(key)) this.#since.delete(key);
      else this.#differ(key, amiss ? OPEN_AFTER_MS : CLOSE_AFTER_MS);
    }
  }

  /** What is amiss with a target now. */
  causes(target: string): Causes {
    return new Map([...(this.#parts.get(target)?.values() ?? [])].flatMap((causes) => [...causes]));
  }

  /** Since when a cause is known, for people. */
  since(target: string, code: string): Moment | null {
    const key = incidentKey(target, code);
    return this.#open.get(key)?.record.openedAt ?? this.#since.get(key)?.at ?? null;
  }

  all(): readonly (Incident & { readonly id: string; readonly told: boolean })[] {
    return [...this.#open.values()]
      .map(({ record }) => record)
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

  /** The notifiers have it: a daemon that starts anew does not tell them again. */
  told(id: string): void {
    this.#later(async () => {
      const found = [...this.#open].find(([, { record }]) => record.id === id);
      if (found === undefined) return;
      const [key, { record, generation }] = found;
      await this.#write(key, { ...record, told: true }, generation, []);
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
        await work();
      } catch (fault) {
        // Told and tried again; no target waits for it.
        this.#onFault(fault);
        this.#wakeIn(AGAIN_MS);
      }
    })();
  }

  /** Writes every difference that has lasted, and comes back for those that may. */
  async #settle(): Promise<void> {
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
    }
  }

  async #opens(
    key: string,
    { target, code, detail, at }: { target: string; code: IncidentCode; detail: string; at: Moment },
  ): Promise<void> {
    const id = this.#ports.ids.fresh('inc');
    const record: IncidentRecord = { schema: 'idunn.incident/v1', id, target, code, detail, openedAt: at, told: false };
    await this.#write(key, record, 'absent', [this.#history('incident.opened', record)]);
    this.#tell('opened', record);
  }

  async #closes(key: string, { record, generation }: Kept): Promise<void> {
    await this.#write(key, null, generation, [this.#history('incident.closed', record)]);
    this.#tell('closed', record);
  }

  async #write(
    key: string,
    next: IncidentRecord | null,
    expect: Mutation['expect'],
    history: readonly HistoryDraft[],
  ): Promise<void> {
    const result = await this.#journal.commit([put('incident', key, next, expect)], history);
    if (result.kind !== 'committed') throw new StoreFault('store-write-failed', `the incident ${key}: ${result.kind}`);
    const generation = result.generations[0] ?? 0;
    if (next === null) this.#open.delete(key);
    else this.#open.set(key, { record: next, generation });
  }

  #history(kind: string, { id, target, code, detail, openedAt, told }: IncidentRecord): HistoryDraft {
    const atMs = this.#ports.clock.wallMs();
    const body = { incident: id, code, detail, since: isoAt(openedAt), told };
    return { kind, subject: target, actor: 'idunn', tenant: 'local', atMs, body };
  }

  #tell(state: 'opened' | 'closed', { id, target, code, detail }: IncidentRecord): void {
    const { remedy } = catalogue[code];
    const at = isoAt(moment(this.#ports.clock));
    this.#emit({ event: 'incident', at, target, transaction: null, state, incident: id, code, detail, remedy });
  }
}
