import type { IncarnationKey } from '@idunn/readiness';
import type { VirtualTime } from '../virtual-time.ts';
import type { Pace } from './pace.ts';

/** What really happened in the simulated world. Checkers read this, never Idunn's records. */
export type Deed =
  | { readonly kind: 'write'; readonly request: number; readonly activation: string; readonly epoch: number }
  | { readonly kind: 'row'; readonly store: string; readonly epoch: number; readonly activation: string | null }
  | { readonly kind: 'granted'; readonly activation: string; readonly epoch: number }
  | { readonly kind: 'routed'; readonly activations: readonly string[] }
  | {
      readonly kind: 'ready';
      readonly incarnation: IncarnationKey;
      readonly activation: string;
      readonly epoch: number | null;
    }
  | {
      readonly kind: 'started';
      readonly activation: string;
      readonly executable: string;
      readonly sealed: string;
      /** What runs of the same target at that moment. */
      readonly beside: readonly string[];
    }
  /** A gate was passed: `granted` by a grant, otherwise by itself. */
  | {
      readonly kind: 'ran';
      readonly activation: string;
      readonly granted: boolean;
      readonly executable: string;
      readonly sealed: string;
      readonly beside: readonly string[];
    }
  | { readonly kind: 'rehearsed'; readonly release: string; readonly passed: boolean }
  /** It was asked to end while a request that it had written was not answered yet. */
  | { readonly kind: 'cut'; readonly activation: string; readonly requests: number }
  | { readonly kind: 'ended'; readonly activation: string; readonly asked: boolean }
  /** What Idunn told its user, with what the world said at that moment. */
  | {
      readonly kind: 'told-admitted';
      readonly incarnation: IncarnationKey | null;
      readonly row: string | null;
      readonly route: readonly string[] | null;
    }
  /** Continuity told that what was admitted is back. */
  | {
      readonly kind: 'told-restored';
      readonly incarnation: IncarnationKey | null;
      readonly row: string | null;
      readonly route: readonly string[] | null;
    }
  /** An operator's stop was engaged or cleared. */
  | { readonly kind: 'stop'; readonly stop: 'freeze' | 'hold'; readonly target: string; readonly engaged: boolean }
  /** Expected was published for the first time under its key. */
  | { readonly kind: 'expected'; readonly incarnation: IncarnationKey }
  /** An incumbent was asked to give its lease up. */
  | { readonly kind: 'asked'; readonly activation: string }
  | { readonly kind: 'observer'; readonly up: boolean }
  | { readonly kind: 'reboot' }
  | { readonly kind: 'acked'; readonly request: number; readonly activation: string }
  | { readonly kind: 'crash'; readonly at: string };

export type Entry = Deed & { readonly atMs: number };

export class Ledger {
  readonly entries: Entry[] = [];
  readonly #time: VirtualTime;
  readonly #pace: Pace;

  constructor(time: VirtualTime, pace: Pace) {
    this.#time = time;
    this.#pace = pace;
  }

  note(deed: Deed): void {
    this.entries.push({ ...deed, atMs: this.#time.nowMs });
    if (deed.kind !== 'write' && deed.kind !== 'acked') this.#pace.stir();
  }

  of<K extends Deed['kind']>(kind: K): readonly Extract<Entry, { kind: K }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
  }
}
