import type { Envelope, Evidence, Outcome } from '@idunn/kernel';
import type {
  Activation,
  Disagreement,
  Expected,
  IncarnationKey,
  ObservedRuntime,
  PresenceState,
} from '@idunn/readiness';

/** What the observer signed about one incarnation, verified by the daemon. */
export interface Correlation {
  readonly incarnation: IncarnationKey;
  readonly activation: string | null;
  readonly present: {
    readonly state: PresenceState;
    readonly epoch: number | null;
    readonly sequence: number;
    /** When it reached the daemon, on the monotonic clock. */
    readonly observedAtMs: number;
    readonly fresh: boolean;
  } | null;
  /** Digest of the signed receipt, and what it is bound to. */
  readonly ready: {
    readonly receipt: string;
    readonly activation: string;
    readonly epoch: number | null;
    readonly sequence: number;
    readonly observedAtMs: number;
    /** The receipt itself, where it was heard and not only named. */
    readonly envelope?: Envelope;
  } | null;
  readonly disagreements: readonly Disagreement[];
}

export type ObserverEvent =
  | { readonly kind: 'correlation'; readonly correlation: Correlation }
  | { readonly kind: 'link'; readonly state: 'up' | 'down' };

/** The link to the observer. What it tells counts only with the observer's signature. */
export interface ObserverPort {
  /** Publishes Expected under its key; the answer is the observer's signed acknowledgement. */
  publishExpected(key: IncarnationKey, expected: Expected): Promise<Outcome<'acknowledged'>>;
  /** Publishes the activation as current, with what the driver observed. */
  publishActivation(activation: Activation, observed: ObservedRuntime): Promise<Outcome<'acknowledged'>>;
  /** Demotes the key to Expected-only, if exactly this activation is current. */
  demote(key: IncarnationKey, activation: string): Promise<Outcome<'acknowledged'>>;
  /** Removes the incarnation's records. */
  withdraw(key: IncarnationKey): Promise<Outcome<'acknowledged'>>;
  /** The newest signed word; `unknown` while the link is down. */
  read(key: IncarnationKey): Evidence<Correlation>;
  subscribe(listener: (event: ObserverEvent) => void): void;
}
