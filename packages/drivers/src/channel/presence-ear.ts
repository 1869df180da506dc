import type { WorkloadHandle } from '@idunn/authority';
import { type Header, type Outcome, ok, refusal, refused, type VerificationKey, verificationKey } from '@idunn/kernel';
import { NO_TRAIL, type Presence, type PresenceTrail, type VerifiedPresence, verifyPresence } from '@idunn/readiness';

export interface PresenceEarOptions {
  readonly audience: Header['audience'];
  /** The target's enrolled service signers; one of them must have signed a presence. */
  readonly anchors: (target: string) => readonly { readonly publicKey: string }[];
}

/** Activations whose last presence is remembered. */
const TRAIL_LIMIT = 10_000;

/**
 * Hears presences: signed by the activation and by one of the target's anchors, about exactly the handle's process, and
 * never twice (I4, I5). What was heard is remembered beyond the connection that it came over.
 */
export class PresenceEar {
  readonly #options: PresenceEarOptions;
  readonly #trails = new Map<string, PresenceTrail>();

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
    this.#remember(handle.activation, trail);
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
        signer: verificationKey(anchor.publicKey),
        audience: this.#options.audience,
        trail: this.#trails.get(activation) ?? NO_TRAIL,
      });
      if (verified.ok) return verified;
    }
    return verified;
  }

  #remember(activation: string, trail: PresenceTrail): void {
    this.#trails.delete(activation);
    this.#trails.set(activation, trail);
    const [oldest] = this.#trails.keys();
    if (this.#trails.size > TRAIL_LIMIT && oldest !== undefined) this.#trails.delete(oldest);
  }
}
