import type { Digest, Header, JsonObject } from '@idunn/kernel';
import type { IncarnationKey } from './expected.ts';

export type PresenceState = 'warming' | 'active' | 'degraded' | 'failed';

/**
 * A workload's own signed word about itself: a DSSE envelope with two signatures, the activation's key and the
 * service's enrolled signer. `header.subject` is the activation id, `header.sequence` rises, `header.issuer` is the
 * activation's key id.
 */
export interface Presence extends JsonObject {
  readonly header: Header & JsonObject;
  readonly target: string;
  readonly incarnation: IncarnationKey;
  readonly activation: string;
  readonly state: PresenceState;
  readonly pid: number;
  /** The lease epoch it writes under; `null` while it may not write. */
  readonly epoch: number | null;
  readonly endpoint: { readonly host: string; readonly port: number } | null;
  readonly stateSchema: string | null;
  readonly capabilities: readonly { readonly name: string; readonly schema: string }[];
  /** For people; at most 1,000 characters. */
  readonly detail: string;
}

export type DisagreementCode =
  | 'incarnation-mismatch'
  | 'runtime-identity-mismatch'
  | 'endpoint-mismatch'
  | 'schema-mismatch'
  | 'capability-mismatch'
  | 'executable-mismatch';

export interface Disagreement {
  readonly code: DisagreementCode;
  readonly detail: string;
}

/** What the observer signs (as DSSE payload): Present for one presence of one activation. */
export interface PresentStatement extends JsonObject {
  readonly header: Header & JsonObject;
  readonly incarnation: IncarnationKey;
  readonly activation: string;
  readonly state: PresenceState;
  readonly epoch: number | null;
  readonly presenceSequence: number;
  /** Digest of the presence envelope's payload bytes. */
  readonly presence: Digest;
  /** False once the presence is older than the contract allows: readiness is withdrawn. */
  readonly fresh: boolean;
  readonly disagreements: readonly (Disagreement & JsonObject)[];
}

/** What the observer signs when everything agrees. Only the observer can build one. */
export interface ReadyReceipt extends JsonObject {
  readonly header: Header & JsonObject;
  readonly incarnation: IncarnationKey;
  readonly activation: string;
  readonly epoch: number | null;
  readonly presenceSequence: number;
  readonly presence: Digest;
}
