import type { Digest, Evidence, Outcome } from '@idunn/kernel';
import type { Activation, Expected, IncarnationKey, ObservedRuntime, RuntimeIdentity } from '@idunn/readiness';
import type { HealthContract, LaunchContract, RehearsalContract, StartKind, StateContract } from '@idunn/release';

/** A versioned handle that a later daemon can take up again. */
export interface WorkloadHandle {
  readonly version: 1;
  readonly driver: 'process';
  readonly target: string;
  readonly activation: string;
  readonly identity: RuntimeIdentity;
  /** Digest of argv as it was launched, where the driver knows it: the observed argv is held against it (I2). */
  readonly argv?: Digest;
}

export interface MintRequest {
  readonly requestId: string;
  readonly activation: string;
  readonly incarnation: IncarnationKey;
  readonly expected: Expected;
  readonly launch: LaunchContract;
  readonly state: StateContract | null;
  readonly health: HealthContract;
  readonly start: StartKind;
  /** Ports already promised to living activations of the fleet. */
  readonly takenPorts: readonly number[];
}

export interface LaunchRequest {
  readonly requestId: string;
  readonly target: string;
  readonly activation: Activation;
  readonly release: Digest;
  readonly launch: LaunchContract;
  readonly state: StateContract | null;
  /** `gated`: the launcher is started; it becomes the program when the grant reaches it. */
  readonly start: StartKind;
}

/** A private run of a sealed release on a copy of the state, without route, lease and network. */
export interface RehearsalRequest {
  readonly requestId: string;
  readonly target: string;
  readonly release: Digest;
  readonly launch: LaunchContract;
  readonly state: StateContract;
  readonly health: HealthContract;
  readonly rehearsal: RehearsalContract;
}

export type StopAnswer =
  /** Every process of the tree was seen gone; `proof` says how. */
  | { readonly kind: 'gone'; readonly proof: 'tree-empty' | 'single-process'; readonly forced: boolean }
  /** The named process is gone, but nothing proves that no descendant lives. */
  | { readonly kind: 'parent-gone' }
  | { readonly kind: 'unknown'; readonly because: string };

/** An exit code, or the signal that ended it; one of the two. */
export type Exit = {
  readonly code: number | null;
  readonly signal: string | null;
};

/** A launch of which something may still run; `pid` is `null` where nobody of it could be looked at. */
export interface RunningLaunch {
  readonly activation: string;
  readonly pid: number | null;
}

export type WorkloadEvent = { readonly kind: 'died'; readonly target: string; readonly activation: string };

/**
 * Starts, finds, observes and stops processes. Every call may be repeated; none takes the caller's word for an
 * identity.
 */
export interface WorkloadPort {
  /**
   * Makes the activation directory with keys, documents and secrets, and picks a port. A repeat returns the first
   * answer.
   */
  mint(request: MintRequest): Promise<Outcome<Activation>>;
  /** Starts the program once per activation: an earlier start is found and returned, never doubled. */
  start(request: LaunchRequest): Promise<Outcome<WorkloadHandle>>;
  /**
   * Runs the program on a copy of its state until its probe reads well, then ends it. The state itself is only read.
   * Whatever was begun is gone when it answers, also what a rehearsal that a crash cut off has left. Refused as
   * `rehearsal-failed` with the last probe and log lines, as `rehearsal-too-large` when the copy would pass its limit.
   * Once `signal` is aborted its answer is not listened to any more, and it ends as soon as it can.
   */
  rehearse(request: RehearsalRequest, signal: AbortSignal): Promise<Outcome<'passed'>>;
  /** `absent` only when no process of the activation can exist any more. A launch of another target is `unknown`. */
  find(target: string, activation: string): Promise<Evidence<WorkloadHandle>>;
  /**
   * Every launch of the target of which a process may still run, by what the driver itself keeps of its launches,
   * whatever any record knows. One that cannot be judged is among them (I10).
   */
  running(target: string): Promise<Evidence<readonly RunningLaunch[]>>;
  /** Identity checked, then what runs; `absent` when this exact process is gone. */
  observe(handle: WorkloadHandle, release: Digest): Promise<Evidence<ObservedRuntime>>;
  /** Asks the tree to end, waits `graceMs`, kills it, and answers what was then seen (F12, F15, F25). */
  stop(handle: WorkloadHandle, graceMs: number): Promise<StopAnswer>;
  /** Removes the activation directory; the activation can never be used again. */
  retire(target: string, activation: string): Promise<void>;
  /** The last lines of the activation's log, secrets never among them (F7). */
  logTail(target: string, activation: string, lines: number): Promise<readonly string[]>;
  /** How the activation's process ended; `null` while it lives, and where another daemon had started it. */
  lastExit(activation: string): Promise<Exit | null>;
  /** Watches a (perhaps re-adopted) process: one `died` event when it has ended. */
  watch(handle: WorkloadHandle): void;
  subscribe(listener: (event: WorkloadEvent) => void): void;
}
