import type { Digest, Evidence, Outcome } from '@idunn/kernel';
import type { Activation, Expected, IncarnationKey, ObservedRuntime, RuntimeIdentity } from '@idunn/readiness';
import type { LaunchContract, StateContract } from '@idunn/release';

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
}

export type StopAnswer =
  /** Every process of the tree was seen gone; `proof` says how. */
  | { readonly kind: 'gone'; readonly proof: 'tree-empty' | 'single-process'; readonly forced: boolean }
  /** The named process is gone, but nothing proves that no descendant lives. */
  | { readonly kind: 'parent-gone' }
  | { readonly kind: 'unknown'; readonly because: string };

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
  /** `absent` only when no process of the activation can exist any more. */
  find(target: string, activation: string): Promise<Evidence<WorkloadHandle>>;
  /** Identity checked, then what runs; `absent` when this exact process is gone. */
  observe(handle: WorkloadHandle, release: Digest): Promise<Evidence<ObservedRuntime>>;
  /** Asks the tree to end, waits `graceMs`, kills it, and answers what was then seen (F12, F15, F25). */
  stop(handle: WorkloadHandle, graceMs: number): Promise<StopAnswer>;
  /** Removes the activation directory; the activation can never be used again. */
  retire(target: string, activation: string): Promise<void>;
  /** The last lines of the activation's log, secrets never among them (F7). */
  logTail(target: string, activation: string, lines: number): Promise<readonly string[]>;
  /** Watches a (perhaps re-adopted) process: one `died` event when it has ended. */
  watch(handle: WorkloadHandle): void;
  subscribe(listener: (event: WorkloadEvent) => void): void;
}
