import type { Evidence, Json, Outcome } from '@idunn/kernel';
import type { Presence } from '@idunn/readiness';
import type { WorkloadHandle } from './workload-port.ts';

export interface Grant {
  readonly activation: string;
  readonly stateId: string;
  readonly epoch: number;
}

export type RelinquishAnswer =
  /** Writes in flight are finished, new ones are refused before effect. */
  | {
      readonly kind: 'relinquished';
      /**
       * CLOCK_MONOTONIC of the last accepted write in milliseconds, the `Clock`'s own scale; `null` when it never
       * wrote.
       */
      readonly lastWriteAtMs: number | null;
    }
  | { readonly kind: 'silent'; readonly because: string };

export type ChannelEvent =
  /**
   * A presence whose two signatures and rising sequence were checked. For leases, health and continuity, never Ready.
   */
  | { readonly kind: 'presence'; readonly target: string; readonly activation: string; readonly presence: Presence }
  /** The first write under an epoch, as the program signed it; for the write gap only. `atMs` is CLOCK_MONOTONIC. */
  | {
      readonly kind: 'first-write';
      readonly target: string;
      readonly activation: string;
      readonly epoch: number;
      readonly atMs: number;
    }
  | { readonly kind: 'closed'; readonly target: string; readonly activation: string };

/** The lease connection to one process: the socket of its activation directory, owned by the observed process. */
export interface ChannelPort {
  /**
   * Connects, makes sure that the listening socket is the handle's own, and proves both sides' keys. Safe to repeat.
   */
  open(handle: WorkloadHandle): Promise<Outcome<'open'>>;
  /** The newest presence of this connection with its age on the monotonic clock. */
  presence(activation: string): Evidence<{ readonly presence: Presence; readonly ageMs: number }>;
  /**
   * The span in which a silence would have been the program's own, for one that somebody else speaks for, in monotonic
   * milliseconds; `null` where it speaks for itself. Beyond it nobody listened, and nothing can be said of it (I10).
   */
  listened?(activation: string): { readonly sinceMs: number; readonly untilMs: number } | null;
  /** Asks the process to read the nonce back through its own open connections and sign it; per store id. */
  echo(activation: string, nonce: string, withinMs: number): Promise<Evidence<Readonly<Record<string, string>>>>;
  relinquish(
    activation: string,
    request: { readonly requestId: string; readonly epoch: number; readonly termMs: number },
    withinMs: number,
  ): Promise<RelinquishAnswer>;
  /** The handover is off: the process re-reads the row and goes on if it is still named. */
  withdraw(activation: string, requestId: string): Promise<void>;
  grant(activation: string, grant: Grant): Promise<Outcome<'delivered'>>;
  /** What was last read of a program that does not speak for itself, for people; `null` where nothing was (F5). */
  lastReading?(activation: string): Promise<Json>;
  close(activation: string): Promise<void>;
  subscribe(listener: (event: ChannelEvent) => void): void;
}
