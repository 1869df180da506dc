import type { Outcome, Refusal } from '@idunn/kernel';
import type { Disagreement, IncarnationKey, PresenceState } from '@idunn/readiness';
import type { RolloutContract } from '@idunn/release';
import type { BackPhase, OutcomeName, Phase } from '../model/phase.ts';

/** Who asks. Recorded with everything that the request changes. */
export interface Requester {
  readonly actor: string;
  readonly tenant: string;
}

export type Command = Requester & {
  /** The caller's own id for this exact request; a repeat returns the first answer (F24, I12). */
  readonly operationId: string;
  readonly target: string;
} & (
    | { readonly kind: 'up'; readonly ref: string | null }
    /** Takes over the state of another fleet; `confirm` must be the foreign claim's `fleet/target`. */
    | { readonly kind: 'takeover'; readonly confirm: string }
    /** What is admitted, as a new activation of the same sealed release. */
    | { readonly kind: 'restart' }
  );

/** Ends another transaction: `cancel` before its fence, `expire` in a phase that lasts too long. */
export type Withdrawal = Requester & {
  readonly operationId: string;
  readonly kind: 'cancel' | 'expire';
  readonly transaction: string;
};

/** The durable answer to a command. */
export interface OperationReceipt {
  readonly operationId: string;
  readonly target: string;
  readonly kind: Command['kind'] | Withdrawal['kind'];
  readonly transaction: string;
  /** Commands ahead of this one on its target, oldest first. */
  readonly ahead: readonly {
    readonly transaction: string;
    readonly actor: string;
    readonly phase: Phase | BackPhase | 'queued';
  }[];
  /** True when the operation id was seen before and nothing new was begun. */
  readonly repeated: boolean;
  readonly stateVersion: number;
}

export interface WaitNote {
  /** What is waited on, in words. */
  readonly what: string;
  /** ISO 8601. */
  readonly since: string;
  /** ISO 8601, or `null` when only the remedy ends it. */
  readonly until: string | null;
  /** The command or deed that ends it. */
  readonly remedy: string;
}

export interface TransactionView {
  readonly id: string;
  readonly kind: 'deploy' | 'takeover' | 'restart' | 'continuity';
  readonly target: string;
  readonly actor: string;
  readonly tenant: string;
  readonly phase: Phase | BackPhase | 'queued';
  /** ISO 8601, when the phase was entered. */
  readonly since: string;
  readonly phases: readonly {
    readonly phase: Phase | BackPhase;
    readonly at: string;
    readonly tookMs: number | null;
    readonly note: string | null;
  }[];
  readonly waitingOn: WaitNote | null;
  readonly incarnation: IncarnationKey | null;
  readonly revision: string | null;
  /** What was read before each irreversible step (I8); `admittedAt: null` held. ISO 8601. */
  readonly freezes: readonly {
    readonly phase: Phase;
    readonly record: string | null;
    readonly admittedAt: string | null;
  }[];
  readonly result: TransactionResult | null;
}

export interface TransactionResult {
  readonly outcome: OutcomeName;
  readonly incarnation: IncarnationKey | null;
  readonly revision: string | null;
  /** From intake to outcome. */
  readonly durationMs: number;
  /** `durationMs` less the recipe's steps, fetches and the program's own start. */
  readonly ownMs: number;
  /** Last write accepted from the incumbent to first from the candidate; `null` when nobody wrote. */
  readonly writeGapMs: number | null;
  readonly requests: { readonly held: number; readonly failed: number; readonly longestHoldMs: number };
  readonly refusal: Refusal | null;
}

export interface IncarnationView {
  readonly incarnation: IncarnationKey;
  readonly role: 'admitted' | 'candidate' | 'draining';
  readonly expected: { readonly release: string; readonly build: string; readonly revision: string };
  readonly activation: string | null;
  readonly present: {
    readonly state: PresenceState;
    readonly sequence: number;
    readonly observedAt: string;
    readonly fresh: boolean;
  } | null;
  readonly ready: { readonly receipt: string; readonly observedAt: string } | null;
  readonly disagreements: readonly Disagreement[];
}

export interface Incident {
  readonly code: string;
  readonly subject: string;
  readonly since: string;
  readonly detail: string;
  readonly remedy: string;
}

/** A freeze or hold that is engaged; `clearedBy` is the command that ends it. */
export interface StopView {
  readonly by: string;
  readonly reason: string;
  readonly since: string;
  readonly clearedBy: string;
}

/** One target, as `idunn.status/v1` carries it (documented in the client package). */
export interface TargetView {
  readonly target: string;
  readonly desired: 'up' | 'down';
  readonly admitted: {
    readonly incarnation: IncarnationKey;
    readonly release: string;
    readonly build: string;
    readonly revision: string;
    readonly activation: string;
    readonly processes: readonly { readonly pid: number }[];
    readonly admittedAt: string;
  } | null;
  readonly incarnations: readonly IncarnationView[];
  readonly lease: {
    readonly epoch: number;
    readonly activation: string | null;
    readonly state: 'held' | 'revoked' | 'none';
  } | null;
  readonly route: {
    readonly endpoint: string;
    readonly members: readonly { readonly incarnation: IncarnationKey; readonly backend: string }[];
    /** What TLS is served with; empty without. `expiresAt` is `null` while none could be read. */
    readonly certificates: readonly {
      readonly file: string;
      readonly names: readonly string[];
      readonly expiresAt: string | null;
    }[];
  } | null;
  readonly static: null;
  /** How what is admitted makes room for the next, with the reason of an outage by design; `null` before. */
  readonly rollout: RolloutContract | null;
  readonly transaction: {
    readonly id: string;
    readonly kind: string;
    readonly phase: string;
    readonly since: string;
    readonly waitingOn: WaitNote | null;
  } | null;
  readonly queued: readonly { readonly transaction: string; readonly actor: string; readonly since: string }[];
  readonly continuity: { readonly streak: number; readonly nextAttemptAt: string | null };
  readonly freezes: readonly StopView[];
  readonly hold: StopView | null;
  readonly incidents: readonly Incident[];
}

/** Something that a person should look at has begun, or has ended by itself. */
export interface IncidentEvent {
  readonly event: 'incident';
  readonly at: string;
  readonly target: string;
  readonly transaction: null;
  readonly state: 'opened' | 'closed';
  /** One id from its opening to its closing. */
  readonly incident: string;
  readonly code: string;
  readonly detail: string;
  readonly remedy: string;
}

/** What happens, as it happens; also kept in the history where it was durable. */
export type EngineEvent = TransactionEvent | IncidentEvent;

export type TransactionEvent = { readonly at: string; readonly target: string; readonly transaction: string } & (
  | { readonly event: 'queued'; readonly ahead: number }
  /** Twice for each phase: when it begins, `tookMs` null, and when it has ended, with the time that it took. */
  | {
      readonly event: 'phase';
      readonly phase: Phase | BackPhase;
      readonly tookMs: number | null;
      readonly note: string | null;
    }
  | { readonly event: 'wait'; readonly wait: WaitNote | null }
  | { readonly event: 'progress'; readonly step: string; readonly text: string }
  | ({ readonly event: 'outcome' } & TransactionResult)
);

/** The engine's front door. */
export interface EngineApi {
  /** Takes up every unfinished transaction and re-adopts what runs; resolves when each target has been looked at. */
  start(): Promise<void>;
  submit(command: Command | Withdrawal): Promise<Outcome<OperationReceipt>>;
  target(target: string): Promise<TargetView | null>;
  targets(): Promise<readonly TargetView[]>;
  transaction(id: string): Promise<TransactionView | null>;
  /** Every open incident, the oldest first. `told`: the notifiers have it. */
  incidents(): readonly (Incident & { readonly id: string; readonly told: boolean })[];
  /** Every opening and closing that the notifiers do not have yet, of one incident in their order. */
  untold(): readonly IncidentEvent[];
  /** The notifiers were told that an incident opened, or closed, and need not be again. */
  noteTold(incident: string, state: IncidentEvent['state']): void;
  subscribe(listener: (event: EngineEvent) => void): () => void;
  /** Stops acting after the step at hand; nothing that runs is stopped. */
  stop(): Promise<void>;
}
