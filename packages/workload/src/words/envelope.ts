import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson, type JsonObject } from './json.ts';
import { Shape } from './shape.ts';

/** The fleet and machine that a message is meant for; it is worth nothing elsewhere (I5). */
export interface Audience extends JsonObject {
  readonly fleet: string;
  readonly machine: string;
}

/** The header of every signed payload. */
export interface Header extends JsonObject {
  readonly schema: string;
  /** Key id of the first signer. */
  readonly issuer: string;
  readonly audience: Audience;
  readonly subject: string;
  readonly requestId: string;
  readonly sequence: number;
}

/** A DSSE envelope (protocol v1) whose payload is RFC 8785 JSON. */
export interface Envelope {
  readonly payloadType: string;
  /** Base64 of the exact payload bytes. */
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

export interface SigningKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const PAYLOAD_TYPE = 'application/vnd.idunn+json';

const SEED_BYTES = 32;
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** DSSE's pre-authentication encoding: what is signed instead of the payload alone. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType, 'utf8');
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${payload.length} `), payload]);
}

/** Signs the canonical form of `payload` with each key in turn. */
export function signEnvelope(payload: unknown, keys: readonly SigningKey[], payloadType = PAYLOAD_TYPE): Envelope {
  const bytes = Buffer.from(canonicalJson(payload), 'utf8');
  const encoded = preAuthEncoding(payloadType, bytes);
  return {
    payloadType,
    payload: bytes.toString('base64'),
    signatures: keys.map((key) => ({ keyid: key.keyId, sig: sign(null, encoded, key.privateKey).toString('base64') })),
  };
}

/** True when `publicKey` made one of the signatures. The key id in the envelope is a hint, never an authority. */
export function signedBy(envelope: Envelope, publicKey: KeyObject): boolean {
  const encoded = preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'));
  return envelope.signatures.some(({ sig }) => verify(null, encoded, publicKey, Buffer.from(sig, 'base64')));
}

/** Throws `ShapeError` or `SyntaxError` for what is no envelope of ours. */
export function readEnvelope(value: unknown): { readonly envelope: Envelope; readonly payload: unknown } {
  const shape = new Shape(value, 'envelope');
  const envelope: Envelope = {
    payloadType: shape.text('payloadType'),
    payload: shape.text('payload'),
    signatures: shape.list('signatures', (item, path) => {
      const signature = new Shape(item, path);
      return { keyid: signature.text('keyid'), sig: signature.text('sig') };
    }),
  };
  if (envelope.payloadType !== PAYLOAD_TYPE) throw new SyntaxError(`payload type ${envelope.payloadType}`);
  return { envelope, payload: JSON.parse(Buffer.from(envelope.payload, 'base64').toString('utf8')) };
}

/** Key id: `ed25519:` and the first 32 hexadecimal digits of SHA-256 over the raw 32-byte public key. */
export function keyIdOf(rawPublicKey: Uint8Array): string {
  return `ed25519:${createHash('sha256').update(rawPublicKey).digest('hex').slice(0, 32)}`;
}

/** A key pair from its 32-byte seed. */
export function keyFromSeed(seed: Uint8Array): SigningKey {
  if (seed.length !== SEED_BYTES) throw new TypeError(`an Ed25519 seed has ${SEED_BYTES} bytes`);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return { keyId: keyIdOf(rawPublicKey(publicKey)), privateKey, publicKey };
}

/** A public key from its raw 32 bytes in base64. */
export function publicKeyFromBase64(base64: string): KeyObject {
  const raw = Buffer.from(base64, 'base64');
  if (raw.length !== SEED_BYTES) throw new TypeError(`an Ed25519 public key has ${SEED_BYTES} bytes`);
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' });
}

export function rawPublicKey(key: KeyObject): Buffer {
  const der = key.export({ format: 'der', type: 'spki' });
  return der.subarray(der.length - SEED_BYTES);
}
