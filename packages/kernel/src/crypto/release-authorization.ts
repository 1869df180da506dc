import { z } from 'zod';
import { DIGEST_PATTERN, type Digest } from '../digest.ts';
import { type Outcome, refusal, refused } from '../refusal.ts';
import { type Envelope, type SigningKey, signEnvelope } from './envelope.ts';
import type { VerificationKey } from './keys.ts';
import { headerSchema, type OpenedEnvelope, openEnvelope } from './open-envelope.ts';

export const RELEASE_AUTHORIZATION = 'idunn.release-authorization/v1';
/** A release is authorized for a whole fleet; no machine is called so. */
export const EVERY_MACHINE = '*';

/**
 * The word of an authorizer: this commit may be deployed as this target of this fleet. The header's audience is the
 * fleet on every machine, its subject the target; its sequence rises with each word of one key about one target (I5).
 */
export const releaseAuthorizationSchema = z
  .strictObject({
    header: headerSchema,
    /** The full git object id of the commit. */
    commit: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
    /** The build that sealing it has to come to; `null`: whichever comes out. */
    build: z
      .string()
      .regex(DIGEST_PATTERN)
      .transform((text) => text as Digest)
      .nullable(),
    /** ISO 8601, UTC: from when and until when it may be planned by. */
    notBefore: z.iso.datetime(),
    notAfter: z.iso.datetime(),
  })
  .refine((payload) => Date.parse(payload.notBefore) < Date.parse(payload.notAfter), {
    message: 'the span of validity is empty',
  });
export type ReleaseAuthorization = Readonly<z.infer<typeof releaseAuthorizationSchema>>;

/** Signs one with a key of the purpose `release-authorization`. Times are wall clock, in milliseconds. */
export function signReleaseAuthorization(
  words: {
    readonly fleet: string;
    readonly target: string;
    readonly commit: string;
    readonly build: Digest | null;
    readonly notBeforeMs: number;
    readonly notAfterMs: number;
    readonly sequence: number;
    readonly requestId: string;
  },
  key: SigningKey,
): Envelope {
  const { fleet, target, commit, build, sequence, requestId } = words;
  const payload: ReleaseAuthorization = {
    header: {
      schema: RELEASE_AUTHORIZATION,
      issuer: key.keyId,
      audience: { fleet, machine: EVERY_MACHINE },
      subject: target,
      requestId,
      sequence,
    },
    commit,
    build,
    notBefore: new Date(words.notBeforeMs).toISOString(),
    notAfter: new Date(words.notAfterMs).toISOString(),
  };
  return signEnvelope(payload, [key]);
}

/**
 * Opens an authorization from an untrusted source by whichever of the keys signed it. Refused as
 * `authorization-key-unknown` when none did, else as `openEnvelope` refuses. Its span and its sequence are the caller's
 * to judge.
 */
export function openReleaseAuthorization(want: {
  readonly envelope: unknown;
  readonly keys: readonly VerificationKey[];
  readonly fleet: string;
  readonly target: string;
}): Outcome<OpenedEnvelope<ReleaseAuthorization> & { readonly key: VerificationKey }> {
  for (const key of want.keys) {
    const opened = openEnvelope({
      envelope: want.envelope,
      keys: [key],
      schema: RELEASE_AUTHORIZATION,
      shape: releaseAuthorizationSchema,
      audience: { fleet: want.fleet, machine: EVERY_MACHINE },
      subject: want.target,
    });
    if (opened.ok) return { ok: true, value: { ...opened.value, key } };
    if (opened.refusal.code !== 'envelope-not-signed') return opened;
  }
  return refused(
    refusal('authorization-key-unknown', `No authorizer of ${want.target} signed it: ${want.keys.length} were tried.`),
  );
}

/** Whether an authorization may be planned by at this moment of the wall clock, in milliseconds. */
export function authorizationSpan(
  { notBefore, notAfter, header }: ReleaseAuthorization,
  wallMs: number,
): Outcome<'valid'> {
  const name = `The authorization ${header.sequence} of ${header.subject}`;
  if (wallMs < Date.parse(notBefore)) {
    return refused(refusal('authorization-not-yet-valid', `${name} is valid from ${notBefore} on.`));
  }
  if (wallMs >= Date.parse(notAfter)) {
    return refused(refusal('authorization-expired', `${name} was valid until ${notAfter}.`));
  }
  return { ok: true, value: 'valid' };
}
