import type { WorkloadHandle } from '@idunn/authority';
import { type Header, type Outcome, ok, refusal, refused, type VerificationKey, verificationKey } from '@idunn/kernel';
import { NO_TRAIL, type Presence, type PresenceTrail, type VerifiedPresence, verifyPresence } from '@idunn/readiness';
import { keepNewest } from '../keep-newest.ts';

export interface PresenceEarOptions {
  readonly audience: Header['audience'];
  /** The target's enrolled service signers; one of them must have signed a presence. */
  readonly anchors: (target: string) => readonly { readonly publicKey: string }[];
}

/** Activations whose last presence is remembered, and keys of signers. */
const REMEMBERED = 10_000;

/**
 * Hears presences: signed by the activation and by one of the target's anchors, about exactly the handle's process, and
 * never twice (I4, I5). What was heard is remembered beyond the connection that it came over.
 */
export class PresenceEar {
  readonly #options: PresenceEarOptions;
  readonly #trails = new Map<string, PresenceTrail>();
  /** By their base64: to make a key takes as long as to verify with it. */
  readonly #signers = new Map<string, VerificationKey>();

  constructor(options: PresenceEarOptions) {
    this.#options = options;
  }

  hear(handle: WorkloadHandle, activationKey: VerificationKey, envelope: unknown): Outcome<Presence> {
    const verified = this.#verify(handle, activationKey, envelope);
    if (!verified.ok) return verified;
    const { presence, trail } = verified.value;
    if (presence.pid !== handle.identity.pid) {
      return refused(refusal('envelope-wrong-subject', `It speaks for process ${presence.pid}.`));
    }
    keepNewest(this.#trails, handle.activation, trail, REMEMBERED);
    return ok(presence);
  }

  #verify(handle: WorkloadHandle, key: VerificationKey, envelope: unknown): Outcome<VerifiedPresence> {
    const { activation, target } = handle;
    let verified: Outcome<VerifiedPresence> = refused(
      refusal('envelope-not-signed', `No service signer of ${target} is enrolled.`),
    );
    for (const anchor of this.#options.anchors(target)) {
      verified = verifyPresence({
        envelope,
        activation: { activation, key },
        signer: this.#signer(anchor.publicKey),
        audience: this.#options.audience,
        trail: this.#trails.get(activation) ?? NO_TRAIL,
      });
      if (verified.ok) return verified;
    }
    return verified;
  }

  #signer(publicKey: string): VerificationKey {
    const signer = this.#signers.get(publicKey) ?? verificationKey(publicKey);
    keepNewest(this.#signers, publicKey, signer, REMEMBERED);
    return signer;
  }
}
