import { type Moment, moment } from '@idunn/kernel';
import type { Decision, Persist, Wait } from '../decisions/decision.ts';
import type { Phase } from '../model/phase.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { TransactionEvent } from './api.ts';
import type { EngineCore } from './core.ts';
import type { Lane } from './lane.ts';
import { isoAt, noteOf, phaseEvents } from './show.ts';

const HANDOVER: readonly Phase[] = [
  'incumbent-fenced',
  'write-lease-granted',
  'ready-observed',
  'route-published',
  'route-observed',
];

/** Tells whoever listens what the transactions of one target do. Nothing is decided by it. */
export class Teller {
  readonly #core: EngineCore;
  readonly #target: string;

  constructor(core: EngineCore, target: string) {
    this.#core = core;
    this.#target = target;
  }

  /** A restart has begun, with the phases that it enters at once. */
  began({ id, log }: TransactionRecord): void {
    const now = moment(this.#core.ports.clock);
    log.forEach(({ phase, note, tookMs }) => {
      const event = { event: 'phase' as const, phase: phase as Phase, note };
      this.#emit(id, now, { ...event, tookMs: null });
      if (tookMs !== null) this.#emit(id, now, { ...event, tookMs });
    });
  }

  /** Phases of the handover are shown as they are seen to hold, and recorded after the hot path. */
  reached(lane: Lane, decision: Decision, now: Moment): void {
    const { reached } = decision;
    if (reached === undefined || lane.tx.state.phase === 'returning') return;
    const from = HANDOVER.indexOf(reached);
    for (const phase of HANDOVER.slice(0, from + 1)) {
      if (lane.reached[phase] !== undefined) continue;
      lane.reached[phase] = now.monotonicMs;
      if (phase !== 'incumbent-fenced') {
        this.#emit(lane.tx.id, now, { event: 'phase', phase, tookMs: null, note: null });
      }
    }
  }

  /** What was made durable; `before` is the record that it took the place of. */
  persisted(lane: Lane, before: TransactionRecord, decision: Persist, now: Moment): void {
    const shown = Object.keys(lane.reached);
    for (const event of phaseEvents(before, lane.tx, decision.entered, shown)) this.#emit(lane.tx.id, now, event);
    if (decision.result !== undefined && lane.tx.result !== null) {
      this.#emit(lane.tx.id, now, { event: 'outcome', ...lane.tx.result });
    }
  }

  /** An outcome that turned out to be durable: the answer to its commit was lost (F27). */
  missed({ tx }: Lane, { id, result }: TransactionRecord): void {
    if (tx.result !== null || result === null) return;
    this.#emit(id, moment(this.#core.ports.clock), { event: 'outcome', ...result });
  }

  progress(transaction: string, note: { readonly step: string; readonly text: string }): void {
    this.#emit(transaction, moment(this.#core.ports.clock), { event: 'progress', ...note });
  }

  /** What a lane waits on, `null` when it goes on; told once, and kept with its begin. */
  waits(lane: Lane, decision: Wait | null, now: Moment): void {
    const before = lane.waiting;
    if (decision === null) lane.clearTimer();
    if (before?.wait.what === decision?.what) {
      if (before !== null && decision !== null) lane.waiting = { wait: decision, since: before.since };
      return;
    }
    lane.waiting = decision === null ? null : { wait: decision, since: now };
    this.#emit(lane.tx.id, now, { event: 'wait', wait: lane.waiting === null ? null : noteOf(lane.waiting, now) });
  }

  #emit(
    transaction: string,
    now: Moment,
    event: DistributiveOmit<TransactionEvent, 'at' | 'target' | 'transaction'>,
  ): void {
    this.#core.emit({ at: isoAt(now), target: this.#target, transaction, ...event });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
