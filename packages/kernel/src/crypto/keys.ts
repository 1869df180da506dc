import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Outcome, ok, refusal, refused } from '../refusal.ts';
import { keyIdOf, publicKeyFromBase64, publicKeyToBase64, type SigningKey } from './envelope.ts';

/** What a key may sign. A key that signs one kind of statement is worth nothing for another (I5). */
export const KEY_PURPOSES = ['authority', 'observer', 'service-signer', 'activation', 'release-authorization'] as const;
export type KeyPurpose = (typeof KEY_PURPOSES)[number];

/** 32 bytes as strict base64: exactly one spelling. */
export const base64Of32Bytes = z.string().regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/);

const keyIdText = z.string().regex(/^ed25519:[0-9a-f]{32}$/);

/** The public record of a key: what anybody needs to verify with it. The key id is bound to the public key. */
export const keyRecordSchema = z
  .strictObject({
    schema: z.literal('idunn.key/v1'),
    keyId: keyIdText,
    /** Raw Ed25519 public key. */
    publicKey: base64Of32Bytes,
    purpose: z.enum(KEY_PURPOSES),
    /** ISO 8601, UTC. */
    notBefore: z.iso.datetime(),
    notAfter: z.iso.datetime(),
    /** ISO 8601, UTC; from here on the key verifies history only. */
    retiredAt: z.iso.datetime().nullable(),
  })
  .refine((record) => keyIdOf(Buffer.from(record.publicKey, 'base64')) === record.keyId, {
    message: 'the key id is not the digest of the public key',
  })
  .refine((record) => Date.parse(record.notBefore) < Date.parse(record.notAfter), {
    message: 'the span of validity is empty',
  });
export type KeyRecord = Readonly<z.infer<typeof keyRecordSchema>>;

/** A public key under its id. */
export interface VerificationKey {
  readonly keyId: string;
  readonly publicKey: KeyObject;
}

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The signing key of a 32-byte Ed25519 seed in base64. Throws `TypeError` for anything else. */
export function signingKeyFromSeed(seedBase64: string): SigningKey {
  if (!base64Of32Bytes.safeParse(seedBase64).success) throw new TypeError('an Ed25519 seed is 32 bytes in base64');
  const der = Buffer.concat([PKCS8_PREFIX, Buffer.from(seedBase64, 'base64')]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { keyId: keyIdOf(Buffer.from(publicKeyOf(privateKey), 'base64')), privateKey };
}

/** The raw public key, in base64, that belongs to a private key. */
export const publicKeyOf = (privateKey: KeyObject): string => publicKeyToBase64(createPublicKey(privateKey));

/** A fresh 32-byte Ed25519 seed, in base64. */
export const freshSeed = (): string => randomBytes(32).toString('base64');

/** The verification key of a raw public key in base64, as bindings and records carry it. Throws `TypeError`. */
export const verificationKey = (publicKeyBase64: string): VerificationKey => ({
  keyId: keyIdOf(Buffer.from(publicKeyBase64, 'base64')),
  publicKey: publicKeyFromBase64(publicKeyBase64),
});

const derived = new WeakMap<SigningKey, VerificationKey>();

/** What verifies a signing key's own signatures. Derived once for each key: it is asked for with every activation. */
export function verificationKeyOf(key: SigningKey): VerificationKey {
  const known = derived.get(key) ?? verificationKey(publicKeyOf(key.privateKey));
  derived.set(key, known);
  return known;
}

/**
 * What a key is wanted for: a statement made now, one of which it is known when it was made, or what the machine that
 * holds it says to itself, which no wall clock may forbid: one that is wrong would keep a service down (I9).
 */
export type KeyUse =
  | { readonly kind: 'now'; readonly wallMs: number }
  | { readonly kind: 'own' }
  | { readonly kind: 'history'; readonly madeAtMs: number };

/**
 * The verification key of a record, if it may be used so: its purpose fits, and a moment lies within its span.
 * A retired key verifies only what was made before it retired. Times are wall clock, in milliseconds: a span of
 * validity is written by people, for people.
 */
export function usableKey(record: KeyRecord, purpose: KeyPurpose, use: KeyUse): Outcome<VerificationKey> {
  if (record.purpose !== purpose) {
    return refused(
      refusal('key-wrong-purpose', `Key ${record.keyId} is for ${record.purpose}, and ${purpose} was asked of it.`),
    );
  }
  const atMs = use.kind === 'own' ? null : use.kind === 'now' ? use.wallMs : use.madeAtMs;
  if (atMs !== null && atMs < Date.parse(record.notBefore)) {
    return refused(refusal('key-not-yet-valid', `Key ${record.keyId} is valid from ${record.notBefore} on.`));
  }
  if (atMs !== null && atMs >= Date.parse(record.notAfter)) {
    return refused(refusal('key-expired', `Key ${record.keyId} was valid until ${record.notAfter}.`));
  }
  const isOlder = use.kind === 'history' && record.retiredAt !== null && use.madeAtMs < Date.parse(record.retiredAt);
  if (record.retiredAt !== null && !isOlder) {
    return refused(
      refusal(
        'key-retired',
        `Key ${record.keyId} was retired at ${record.retiredAt} and verifies only older statements.`,
      ),
    );
  }
  return ok(verificationKey(record.publicKey));
}
