/**
 * Time as a port. Durations and deadlines use the monotonic clock together with the boot id; the wall clock is for
 * people only, and order comes from sequence numbers (F29).
 */
export interface Clock {
  /** Milliseconds since the Unix epoch, for display. May jump. */
  wallMs(): number;
  /** Milliseconds since an arbitrary start, comparable only under one boot id. Counts across processes of one boot. */
  monotonicMs(): number;
  /** The kernel's boot id. */
  readonly bootId: string;
}

/** A moment that a later process can still measure from, as long as the machine did not restart. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly bootId: string;
}

export const moment = (clock: Clock): Moment => ({
  wallMs: clock.wallMs(),
  monotonicMs: clock.monotonicMs(),
  bootId: clock.bootId,
});

/** Milliseconds since `from`; `null` when the machine restarted in between, which makes the span unknown. */
export function elapsedMs(clock: Clock, from: Moment): number | null {
  return from.bootId === clock.bootId ? clock.monotonicMs() - from.monotonicMs : null;
}

/** Timers as a port, so that the simulator owns time. */
export interface Timers {
  /** Calls `fire` once after `delayMs`; the returned function withdraws it. */
  after(delayMs: number, fire: () => void): () => void;
}

/** Fresh identifiers as a port. */
export interface Ids {
  /** A fresh id such as `tx-4f9c0a…`: the prefix, a dash, and 128 random bits in hexadecimal. */
  fresh(prefix: string): string;
}

/** A fresh id that is greater, as text, than those made before: of operations, whose newest receipts are kept. */
export const risingId = (ids: Ids, clock: Clock, prefix: string): string =>
  ids.fresh(`${prefix}-${Math.trunc(clock.wallMs()).toString(16).padStart(12, '0')}`);
