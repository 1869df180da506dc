import type { Command, OutcomeName, Withdrawal } from '@idunn/authority';
import type { Batch } from '@idunn/kernel';
import type { IncarnationKey } from '@idunn/readiness';
import type { Plan } from '@idunn/release';
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
  /** A command was taken or refused; `transaction` is `null` where it was refused. */
  | {
      readonly kind: 'answered';
      readonly command: Command | Withdrawal;
      readonly transaction: string | null;
      readonly code: string | null;
      readonly repeated: boolean;
    }
  /** A launch or a staged route was given this: what its plan says, whoever wrote it there. */
  | {
      readonly kind: 'given';
      readonly target: string;
      readonly launch: Plan['launch'] | null;
      readonly state: Plan['state'];
      readonly route: Plan['route'];
    }
  | { readonly kind: 'minted'; readonly activation: string }
  /** What was minted for it was removed: there never is another launch under this id. */
  | { readonly kind: 'retired'; readonly activation: string }
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
  /** An owner claim was written beside a state. */
  | { readonly kind: 'claimed'; readonly root: string; readonly fleet: string }
  /** It left a child that writes; later its whole tree was ended. */
  | { readonly kind: 'forked'; readonly activation: string }
  | { readonly kind: 'emptied'; readonly activation: string }
  | { readonly kind: 'ended'; readonly activation: string; readonly asked: boolean }
  /** What Idunn told its user, with what the world said at that moment. */
  | ({ readonly kind: 'told-admitted' } & Told)
  /** Continuity told that what was admitted is back. */
  | ({ readonly kind: 'told-restored' } & Told)
  /** Any other end. */
  | ({ readonly kind: 'told-ended'; readonly outcome: OutcomeName; readonly code: string | null } & Told)
  /** A transaction was told to begin a phase. */
  | {
      readonly kind: 'told-phase';
      readonly target: string;
      readonly transaction: string;
      readonly phase: string;
      readonly note: string | null;
    }
  /** Something to look at was told to have begun or ended. */
  | { readonly kind: 'told-incident'; readonly target: string; readonly code: string; readonly open: boolean }
  /** The disk under the record store has it: what the next engine will find. */
  | { readonly kind: 'durable'; readonly mutations: Batch['mutations'] }
  /** A clock stood still, or jumped over a suspend: nothing is done in time then. */
  | { readonly kind: 'clock' }
  /** An operator's stop was engaged or cleared. */
  | { readonly kind: 'stop'; readonly stop: 'freeze' | 'hold'; readonly target: string; readonly engaged: boolean }
  /** Expected was published for the first time under its key. */
  | { readonly kind: 'expected'; readonly incarnation: IncarnationKey }
  /** An incumbent was asked to give its lease up. */
  | { readonly kind: 'asked'; readonly activation: string }
  | { readonly kind: 'observer'; readonly up: boolean }
  /** The observer has heard a program, and held it against what it was told of it. */
  | { readonly kind: 'judged'; readonly activation: string }
  | { readonly kind: 'reboot' }
  /** The records of Idunn were copied; later they were put back so. */
  | { readonly kind: 'backed-up' }
  | { readonly kind: 'restored' }
  | { readonly kind: 'acked'; readonly request: number; readonly activation: string }
  | { readonly kind: 'crash'; readonly at: string };

interface Told {
  readonly target: string;
  readonly transaction: string;
  readonly incarnation: IncarnationKey | null;
  /** Whom the lease names; `null` without state. */
  readonly row: string | null;
  /** Whom the route names; `null` without one. */
  readonly route: readonly string[] | null;
}

export type Entry = Deed & { readonly atMs: number };

/** What nobody who uses the world notices. */
const QUIET: ReadonlySet<Deed['kind']> = new Set([
  'write',
  'acked',
  'minted',
  'retired',
  'durable',
  'judged',
  'told-phase',
  'told-ended',
]);

export class Ledger {
  readonly entries: Entry[] = [];
  readonly #byKind = new Map<Deed['kind'], Entry[]>();
  readonly #time: VirtualTime;
  readonly #pace: Pace;

  constructor(time: VirtualTime, pace: Pace) {
    this.#time = time;
    this.#pace = pace;
  }

  /** Takes a deed that nobody else keeps. */
  note(deed: Deed): void {
    const entry: Entry = Object.assign(deed, { atMs: this.#time.nowMs });
    this.entries.push(entry);
    const alike = this.#byKind.get(deed.kind);
    if (alike === undefined) this.#byKind.set(deed.kind, [entry]);
    else alike.push(entry);
    if (!QUIET.has(deed.kind)) this.#pace.stir();
  }

  of<K extends Deed['kind']>(kind: K): readonly Extract<Entry, { kind: K }>[] {
    return (this.#byKind.get(kind) ?? []) as Extract<Entry, { kind: K }>[];
  }
}
