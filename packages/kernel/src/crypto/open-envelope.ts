import { z } from 'zod';
import { canonicalJson } from '../canonical.ts';
import { type Digest, digestBytes } from '../digest.ts';
import type { Json } from '../json.ts';
import { type Outcome, ok, refusal, refused } from '../refusal.ts';
import { type Envelope, type Header, PAYLOAD_TYPE, signedBy } from './envelope.ts';
import type { VerificationKey } from './keys.ts';

/** Longest payload that is looked at; the longest line of the workload protocol carries no more. */
export const MAX_PAYLOAD_BYTES = 262_144;
const MAX_SIGNATURES = 8;
const MAX_NAME_LENGTH = 1024;

/** The header as a part of payload schemas: `z.strictObject({ header: headerSchema, … })`. */
export const headerSchema = z.strictObject({
  schema: z.string().min(1).max(MAX_NAME_LENGTH),
  issuer: z.string().min(1).max(MAX_NAME_LENGTH),
  audience: z.strictObject({
    fleet: z.string().min(1).max(MAX_NAME_LENGTH),
    machine: z.string().min(1).max(MAX_NAME_LENGTH),
  }),
  subject: z.string().min(1).max(MAX_NAME_LENGTH),
  requestId: z.string().min(1).max(MAX_NAME_LENGTH),
  sequence: z.int().nonnegative(),
});

/** The form of an envelope; nothing in it is believed before it is opened. */
export const envelopeSchema = z.strictObject({
  payloadType: z.string().max(MAX_NAME_LENGTH),
  payload: z.string().max(Math.ceil(MAX_PAYLOAD_BYTES / 3) * 4),
  signatures: z
    .array(z.strictObject({ keyid: z.string().max(MAX_NAME_LENGTH), sig: z.string().length(88) }))
    .min(1)
    .max(MAX_SIGNATURES)
    .readonly(),
});

/** A zod schema, or anything that parses like one. */
export interface Shape<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { message: string } };
}

/** A payload that was signed by all who had to, for us, about what was asked. */
export interface OpenedEnvelope<T> {
  readonly payload: T;
  /** Over the exact payload bytes. */
  readonly digest: Digest;
}

/** A payload whose every signature was verified. */
export interface VerifiedPayload {
  readonly payload: Json;
  /** The exact bytes that were signed; digest these. */
  readonly bytes: Buffer;
}

/**
 * Verifies an envelope from an untrusted source: strict shape, named limits, one spelling of base64, a signature by
 * *every* key given, a payload in RFC 8785 form. Refused as `envelope-malformed`, `envelope-too-large` or
 * `envelope-not-signed`. For payloads without our header (in-toto statements); all others go through `openEnvelope`.
 */
export function verifyEnvelope(want: {
  readonly envelope: unknown;
  /** All of these must have signed; at least one. */
  readonly keys: readonly VerificationKey[];
  readonly payloadType: string;
}): Outcome<VerifiedPayload> {
  // An empty list would be satisfied by anything: a fault of the caller, not of the envelope.
  if (want.keys.length === 0) throw new TypeError('an envelope is verified against at least one key');
  const parsed = parseEnvelope(want.envelope);
  if (!parsed.ok) return parsed;
  const envelope = parsed.value;
  if (envelope.payloadType !== want.payloadType) {
    return malformed(`its payload type is not ${want.payloadType}`);
  }
  const bytes = Buffer.from(envelope.payload, 'base64');
  if (bytes.length > MAX_PAYLOAD_BYTES) return tooLarge();
  const missing = want.keys.find((key) => !signedBy(envelope, key));
  if (missing !== undefined) {
    return refused(refusal('envelope-not-signed', `The message carries no valid signature by ${missing.keyId}.`));
  }
  const payload = parseCanonical(bytes);
  return payload === undefined ? malformed('its payload is not RFC 8785 JSON') : ok({ payload, bytes });
}

/**
 * Opens a signed message from an untrusted source and returns its payload. On top of `verifyEnvelope`, the header must
 * name `schema`, the first key as issuer, exactly this `audience` and, where given, this `subject` (I5). Whether the
 * sequence rises is the caller's to judge. Refused as above, or as `envelope-wrong-schema`, `envelope-wrong-issuer`,
 * `envelope-wrong-audience`, `envelope-wrong-subject`.
 *
 * @example
 * const opened = openEnvelope({ envelope, keys: [activationKey, signerKey], schema: 'idunn.presence/v1',
 *   shape: presenceSchema, audience: { fleet, machine }, subject: activation });
 */
export function openEnvelope<T extends { readonly header: Header }>(want: {
  readonly envelope: unknown;
  /** All of these must have signed; the first is the issuer. */
  readonly keys: readonly VerificationKey[];
  readonly schema: string;
  /** The whole payload's shape, header included. */
  readonly shape: Shape<T>;
  readonly audience: Header['audience'];
  readonly subject?: string;
}): Outcome<OpenedEnvelope<T>> {
  const verified = verifyEnvelope({ ...want, payloadType: PAYLOAD_TYPE });
  if (!verified.ok) return verified;
  const header = headerSchema.safeParse(memberOf(verified.value.payload, 'header'));
  if (!header.success) return malformed('its payload has no proper header');
  const wrong = wrongHeader(header.data, want);
  if (wrong !== null) return wrong;
  const payload = want.shape.safeParse(verified.value.payload);
  if (!payload.success) return malformed(`its payload is no ${want.schema}: ${payload.error.message}`);
  return ok({ payload: payload.data, digest: digestBytes(verified.value.bytes) });
}

function wrongHeader(
  header: Header,
  want: Pick<Parameters<typeof openEnvelope>[0], 'keys' | 'schema' | 'audience' | 'subject'>,
): Outcome<never> | null {
  if (header.schema !== want.schema) {
    return refused(refusal('envelope-wrong-schema', `The message is ${header.schema}, not ${want.schema}.`));
  }
  if (header.issuer !== want.keys[0]?.keyId) {
    return refused(refusal('envelope-wrong-issuer', `The message names ${header.issuer} as its issuer.`));
  }
  const { fleet, machine } = header.audience;
  if (fleet !== want.audience.fleet || machine !== want.audience.machine) {
    return refused(refusal('envelope-wrong-audience', `The message is meant for fleet ${fleet}, machine ${machine}.`));
  }
  if (want.subject !== undefined && header.subject !== want.subject) {
    return refused(
      refusal('envelope-wrong-subject', `The message is about ${header.subject}, and ${want.subject} was asked for.`),
    );
  }
  return null;
}

function parseEnvelope(untrusted: unknown): Outcome<Envelope> {
  const parsed = envelopeSchema.safeParse(untrusted);
  if (!parsed.success) {
    const tooBig = parsed.error.issues.some((issue) => issue.code === 'too_big');
    return tooBig ? tooLarge() : malformed(z.prettifyError(parsed.error));
  }
  const texts = [parsed.data.payload, ...parsed.data.signatures.map((signature) => signature.sig)];
  return texts.every(isStrictBase64) ? ok(parsed.data) : malformed('it is not in strict base64');
}

/** One spelling for each run of bytes: otherwise two different envelopes would be the same message. */
const isStrictBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text;

/** The payload, if its bytes are their own RFC 8785 form: no member twice, no second spelling. */
function parseCanonical(bytes: Buffer): Json | undefined {
  try {
    const payload = JSON.parse(bytes.toString('utf8')) as Json;
    return Buffer.from(canonicalJson(payload)).equals(bytes) ? payload : undefined;
  } catch {
    // No JSON, or nested more deeply than the stack allows.
    return undefined;
  }
}

const memberOf = (value: Json, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const malformed = (because: string): Outcome<never> =>
  refused(refusal('envelope-malformed', `The message cannot be read: ${because}.`));

const tooLarge = (): Outcome<never> =>
  refused(
    refusal('envelope-too-large', `The message is over one of its limits; a payload has ${MAX_PAYLOAD_BYTES} bytes.`),
  );
