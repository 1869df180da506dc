import type { Endpoint } from '../launch/document.ts';
import {
  type Audience,
  type Envelope,
  keyIdOf,
  rawPublicKey,
  type SigningKey,
  signEnvelope,
} from '../words/envelope.ts';

export type PresenceState = 'warming' | 'active' | 'degraded' | 'failed';

export interface Capability {
  readonly name: string;
  readonly schema: string;
}

/** What a program says about itself at one moment. */
export interface Word {
  readonly state: PresenceState;
  /** The lease epoch that it writes under; `null` while it may not write. */
  readonly epoch: number | null;
  /** Where it really listens; `null` while it does not. */
  readonly endpoint: Endpoint | null;
  readonly stateSchema: string | null;
  readonly capabilities: readonly Capability[];
  readonly detail: string;
}

/** Who says it. */
export interface Speaker {
  readonly audience: Audience;
  readonly target: string;
  readonly incarnation: string;
  readonly activation: string;
  readonly pid: number;
  /** The activation's key, then the service signer. */
  readonly keys: readonly [SigningKey, SigningKey];
}

export const PRESENCE_SCHEMA = 'idunn.presence/v1';
const DETAIL_LIMIT_CHARACTERS = 1_000;

/** One presence, signed twice: the launch that speaks, and the service that it belongs to (I4). */
export function signPresence(speaker: Speaker, word: Word, sequence: number): Envelope {
  const { audience, target, incarnation, activation, pid, keys } = speaker;
  const payload = {
    header: {
      schema: PRESENCE_SCHEMA,
      issuer: keyIdOf(rawPublicKey(keys[0].publicKey)),
      audience,
      subject: activation,
      requestId: `presence-${sequence}`,
      sequence,
    },
    target,
    incarnation,
    activation,
    pid,
    ...word,
    detail: Array.from(word.detail.toWellFormed()).slice(0, DETAIL_LIMIT_CHARACTERS).join(''),
  };
  return signEnvelope(payload, keys);
}
