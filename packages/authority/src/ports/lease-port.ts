import type { Digest, Evidence, Outcome } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';

/** The row in one store: who may write. `activation: null` names nobody. */
export interface LeaseRow {
  readonly stateId: string;
  readonly epoch: number;
  readonly activation: string | null;
  readonly release: Digest | null;
  readonly stateSchema: string;
  readonly nonce: string | null;
}

/** The rows of all lease-carrying stores, by store id. */
export type LeaseRows = Readonly<Record<string, LeaseRow>>;

/** Beside the state: which fleet owns it. */
export interface OwnerClaim {
  readonly schema: 'idunn.owner-claim/v1';
  readonly fleet: string;
  readonly target: string;
  readonly stateId: string;
  readonly highestEpoch: number;
}

export interface SwapRequest {
  /** Every row must still read so; otherwise nothing is written to that store. */
  readonly from: { readonly epoch: number; readonly activation: string | null };
  readonly to: {
    readonly epoch: number;
    readonly activation: string | null;
    readonly release: Digest | null;
    readonly stateSchema: string;
  };
  /** How long from the call the database is tried for, in milliseconds. */
  readonly deadlineMs: number;
}

export type SwapAnswer =
  /** Committed in every store. */
  | { readonly kind: 'swapped' }
  /** Another row was found; nothing was written where it was found. */
  | { readonly kind: 'differs'; readonly rows: LeaseRows }
  /** The database could not be had by the deadline: somebody holds it. */
  | { readonly kind: 'busy'; readonly store: string }
  | { readonly kind: 'unknown'; readonly because: string };

/** The write lease where the writes go. */
export interface LeasePort {
  /** Creates missing store files with WAL and an empty row (epoch 0, nobody); checks links, mounts and journal mode. */
  prepare(state: StateContract): Promise<Outcome<LeaseRows>>;
  read(state: StateContract): Promise<Evidence<LeaseRows>>;
  /** Writes the nonce beside the row of every store; the row itself is untouched. */
  writeNonce(state: StateContract, nonce: string): Promise<Outcome<'written'>>;
  /**
   * One store: one commit is fence and grant. Several: first all are revoked at the new epoch, the last revocation
   * being the fence, then all are granted. No sync of its own.
   * A repeat goes on with a move that was torn between stores.
   */
  swap(state: StateContract, request: SwapRequest): Promise<SwapAnswer>;
  /** Makes the rows durable on disk. */
  sync(state: StateContract): Promise<Outcome<'durable'>>;
  readClaim(state: StateContract): Promise<Evidence<OwnerClaim>>;
  /**
   * Replaces the claim, or makes it where none lies. `over`: the one that was read before. One of another owner that
   * lies there now and is not exactly that one stays, and this one is refused as `foreign-claim` (I1).
   */
  writeClaim(state: StateContract, claim: OwnerClaim, over: OwnerClaim | null): Promise<Outcome<'written'>>;
}
