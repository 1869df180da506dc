import {
  type Digest,
  type Header,
  type Outcome,
  ok,
  openEnvelope,
  refusal,
  refused,
  type VerificationKey,
} from '@idunn/kernel';
import type { Presence } from '../model/presence.ts';
import { presenceSchema } from '../model/schemas.ts';

/** What was accepted of an activation before: a presence must go on from here. */
export interface PresenceTrail {
  /** The last accepted sequence; 0 before the first. */
  readonly sequence: number;
  /** The highest epoch that it named; 0 before the first. */
  readonly epoch: number;
}

export const NO_TRAIL: PresenceTrail = { sequence: 0, epoch: 0 };

/** A presence whose signatures, audience, subject and order were checked. */
export interface VerifiedPresence {
  readonly presence: Presence;
  /** Over the exact payload bytes. */
  readonly digest: Digest;
  readonly trail: PresenceTrail;
}

/**
 * Verifies a presence from an untrusted source. It must be signed by the activation's own key, which is its issuer,
 * and by the service's enrolled signer (I4); it must be meant for this fleet and machine and speak for this
 * activation; and its sequence must rise and its epoch not fall (I5). Refused as one of the kernel's `envelope-…`
 * codes, `presence-replayed` or `presence-epoch-fell`. Whether what it says agrees with what is expected is the
 * correlation's to judge.
 */
export function verifyPresence(want: {
  readonly envelope: unknown;
  readonly activation: { readonly activation: string; readonly key: VerificationKey };
  /** The trust anchor of the target, under the key id that Expected names. */
  readonly signer: VerificationKey;
  readonly audience: Header['audience'];
  readonly trail: PresenceTrail;
}): Outcome<VerifiedPresence> {
  const { activation } = want.activation;
  const opened = openEnvelope({
    envelope: want.envelope,
    keys: [want.activation.key, want.signer],
    schema: 'idunn.presence/v1',
    shape: presenceSchema,
    audience: want.audience,
    subject: activation,
  });
  if (!opened.ok) return opened;
  const presence = opened.value.payload;
  if (presence.activation !== activation) {
    return refused(
      refusal('envelope-wrong-subject', `The presence of ${activation} speaks for ${presence.activation}.`),
    );
  }
  const { sequence } = presence.header;
  if (sequence <= want.trail.sequence) {
    return refused(
      refusal('presence-replayed', `Presence ${sequence} of ${activation} came after ${want.trail.sequence}.`),
    );
  }
  const epoch = Math.max(want.trail.epoch, presence.epoch ?? 0);
  if (presence.epoch !== null && presence.epoch < epoch) {
    return refused(
      refusal(
        'presence-epoch-fell',
        `Presence ${sequence} of ${activation} names epoch ${presence.epoch} after ${epoch}.`,
      ),
    );
  }
  return ok({ presence, digest: opened.value.digest, trail: { sequence, epoch } });
}

/**
 * Whether a presence still counts: its age in milliseconds of the monotonic clock, against the contract's freshness. An
 * age below zero is another boot's and unknown, so it never counts (I10).
 */
export const isFresh = (ageMs: number, freshnessMs: number): boolean => ageMs >= 0 && ageMs <= freshnessMs;
