import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../canonical.ts';
import type { JsonObject } from '../json.ts';

/** The header that every signed payload carries beside its own fields. */
export interface Header {
  /** Name and version of the payload's shape, e.g. `idunn.presence/v1`. */
  readonly schema: string;
  /** Key id of the (first) signer. */
  readonly issuer: string;
  /** The fleet and machine that the message is meant for; it is worth nothing elsewhere (I5). */
  readonly audience: { readonly fleet: string; readonly machine: string };
  /** What it is about: a target, an incarnation key, an activation id. */
  readonly subject: string;
  readonly requestId: string;
  /** Rises with each message of one issuer about one subject. */
  readonly sequence: number;
}

export type SignedPayload = JsonObject & { readonly header: Header };

/** A DSSE envelope (secure-systems-lab/dsse, protocol v1) whose payload is RFC 8785 JSON. */
export interface Envelope {
  readonly payloadType: string;
  /** Base64 of the exact payload bytes. */
  readonly payload: string;
  readonly signatures: readonly Signature[];
}

interface Signature {
  readonly keyid: string;
  /** Base64. */
  readonly sig: string;
}

export interface SigningKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

export const PAYLOAD_TYPE = 'application/vnd.idunn+json';

/** DSSE's pre-authentication encoding: what is signed instead of the payload alone. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType, 'utf8');
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${payload.length} `), payload]);
}

/** Signs canonical JSON with each key in turn. In-toto statements pass their own `payloadType`. */
export function signEnvelope(
  payload: unknown,
  keys: readonly SigningKey[],
  payloadType: string = PAYLOAD_TYPE,
): Envelope {
  const bytes = Buffer.from(canonicalJson(payload), 'utf8');
  const encoded = preAuthEncoding(payloadType, bytes);
  return {
    payloadType,
    payload: bytes.toString('base64'),
    signatures: keys.map((key) => ({ keyid: key.keyId, sig: sign(null, encoded, key.privateKey).toString('base64') })),
  };
}

/**
 * True when `key` made one of the envelope's signatures. The key id in the envelope says which is tried first, and
 * proves nothing: every one is tried before the answer is no.
 */
export function signedBy(
  envelope: Envelope,
  key: { readonly publicKey: KeyObject; readonly keyId?: string | undefined },
): boolean {
  const encoded = preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'));
  const verifies = ({ sig }: Signature): boolean => verify(null, encoded, key.publicKey, Buffer.from(sig, 'base64'));
  const isNamed = ({ keyid }: Signature): boolean => keyid === key.keyId;
  return (
    envelope.signatures.some((signature) => isNamed(signature) && verifies(signature)) ||
    envelope.signatures.some((signature) => !isNamed(signature) && verifies(signature))
  );
}

/** Key id: `ed25519:` and the first 32 hexadecimal digits of SHA-256 over the raw 32-byte public key. */
export function keyIdOf(rawPublicKey: Uint8Array): string {
  return `ed25519:${createHash('sha256').update(rawPublicKey).digest('hex').slice(0, 32)}`;
}

const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** An Ed25519 public key from its raw 32 bytes in base64, the form that records and bindings carry. */
export function publicKeyFromBase64(base64: string): KeyObject {
  const raw = Buffer.from(base64, 'base64');
  if (raw.length !== 32) throw new TypeError('an Ed25519 public key has 32 bytes');
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' });
}

/** The raw 32 bytes of an Ed25519 public key, in base64. */
export function publicKeyToBase64(key: KeyObject): string {
  const der = key.export({ format: 'der', type: 'spki' });
  return der.subarray(der.length - 32).toString('base64');
}
