import { moment, StoreFault } from '@idunn/kernel';
import type { IncidentCode } from '../model/incident-code.ts';
import type { StandingStop, StopName } from '../ports/freeze-port.ts';
import type { StopSeen } from '../records/stop-seen.ts';
import { stopChange } from '../stops/change.ts';
import { unreadableStop } from '../stops/port.ts';
import { type StopKind, WHOLE_FLEET } from '../stops/record.ts';
import type { EngineCore } from './core.ts';
import { type Held, put } from './journal.ts';

/** Files that change together are looked at together; a hand that writes one in place is given time to end. */
const SETTLE_MS = 100;
/** Repair only: what no watch told of is found by then. */
const SWEEP_MS = 60_000;

const UNREADABLE = { freeze: 'stop-unreadable', hold: 'hold-unreadable' } as const satisfies Record<
  StopKind,
  IncidentCode
>;
const idOf = ({ kind, target, steward }: StopName): string => `${kind}:${target}:${steward ?? ''}`;

/**
 * Brings every freeze and hold that was engaged or cleared into the history, whoever wrote it and whether or not a
 * daemon ran. It decides nothing: whether a stop holds is read from its file at each step (I8).
 */
export class StopBook {
  readonly #core: EngineCore;
  /** The target whose stops changed, or all of them. */
  readonly #changed: (target: string) => void;
  /** As they are recorded; `null`: to be read anew. */
  #seen: Map<string, Held<StopSeen>> | null = null;
  #reported: ReadonlySet<string> = new Set();
  #cancelTimer: (() => void) | null = null;
  #unwatch: (() => void) | null = null;
  #looking: Promise<void> = Promise.resolve();
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(core: EngineCore, changed: (target: string) => void) {
    this.#core = core;
    this.#changed = changed;
  }

  start(): void {
    const { freeze } = this.#core.ports;
    if (freeze.standing === undefined) return;
    this.#unwatch = freeze.watch?.(() => this.#lookIn(SETTLE_MS)) ?? null;
    this.#lookIn(0);
  }

  async stop(): Promise<void> {
    this.#unwatch?.();
    this.#cancelTimer?.();
    await this.#looking;
  }

  #lookIn(delayMs: number): void {
    const { clock, timers } = this.#core.ports;
    const dueMs = clock.monotonicMs() + delayMs;
    if (this.#core.stopped || dueMs >= this.#dueMs) return;
    this.#cancelTimer?.();
    this.#dueMs = dueMs;
    this.#cancelTimer = timers.after(delayMs, () => {
      this.#dueMs = Number.POSITIVE_INFINITY;
      this.#cancelTimer = null;
      this.#looking = this.#look(this.#looking);
    });
  }

  async #look(before: Promise<void>): Promise<void> {
    await before;
    if (this.#core.stopped) return;
    try {
      this.#seen ??= new Map((await this.#core.journal.all('stop')).map((held) => [idOf(held.value), held]));
      const known = [...this.#seen.values()].map(({ value }) => value);
      const standing = (await this.#core.ports.freeze.standing?.(known)) ?? [];
      this.#report(standing);
      for (const stop of standing) await this.#record(this.#seen, stop);
    } catch (fault) {
      this.#seen = null;
      this.#core.fault(fault, 'stops');
      // What was recorded and not answered is no change to the next look: whoever waits looks by itself.
      this.#changed(WHOLE_FLEET);
    }
    this.#lookIn(SWEEP_MS);
  }

  /** One compare-and-swap: what was seen, and that it was. */
  async #record(seen: Map<string, Held<StopSeen>>, stop: StandingStop): Promise<void> {
    const id = idOf(stop);
    const held = seen.get(id);
    const change = stopChange(held?.value ?? null, stop, moment(this.#core.ports.clock));
    if (change === null) return;
    const mutation = put('stop', id, change.seen, held?.generation ?? 'absent');
    const result = await this.#core.journal.commit([mutation], [change.entry]);
    if (result.kind !== 'committed') throw new StoreFault('store-write-failed', `the stop ${id}: ${result.kind}`);
    if (change.seen === null) seen.delete(id);
    else seen.set(id, { value: change.seen, generation: result.generations[0] ?? 0 });
    this.#changed(stop.target);
  }

  /** A stop that cannot be read holds, and somebody has to mend it. */
  #report(standing: readonly StandingStop[]): void {
    const byTarget = Map.groupBy(standing, (stop) => stop.target);
    for (const target of new Set([...this.#reported, ...byTarget.keys()])) {
      const causes = new Map<IncidentCode, string>();
      for (const { kind, stop, clearedBy } of byTarget.get(target) ?? []) {
        if (stop.kind !== 'unknown') continue;
        const others = causes.get(UNREADABLE[kind]);
        const detail = unreadableStop(stop.because, clearedBy);
        causes.set(UNREADABLE[kind], others === undefined ? detail : `${others}; and ${detail}`);
      }
      this.#core.incidents.report(target, causes, 'stops');
    }
    this.#reported = new Set(byTarget.keys());
  }
}
