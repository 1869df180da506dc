import { z } from 'zod';
import { digest, instant, refusal } from './common.ts';

/** The word of an authorizer that a commit may be deployed as a target, as the daemon accepted it. */
export const authorization = z.object({
  schema: z.literal('idunn.authorization/v1'),
  /** SHA-256 over the exact signed bytes. */
  digest,
  target: z.string(),
  keyId: z.string(),
  /** Rises with each word of one key about one target. */
  sequence: z.int(),
  commit: z.string(),
  /** The one build that sealing may come to, `null` for whichever comes out. */
  build: digest.nullable(),
  notBefore: instant,
  notAfter: instant,
  acceptedAt: instant,
  actor: z.string(),
  /** True: exactly these bytes were accepted before. */
  repeated: z.boolean(),
  /** The DSSE envelope itself. */
  envelope: z.json(),
});

export const authorizations = z.object({
  schema: z.literal('idunn.authorizations/v1'),
  fleet: z.string(),
  target: z.string(),
  /** The keys that the binding names. */
  authorizers: z.array(z.object({ keyId: z.string(), publicKey: z.string() })),
  /** The digest of the one that a deployment would be selected by now; `null` when there is none, and why. */
  current: digest.nullable(),
  refusal: refusal.omit({ detail: true }).nullable(),
  /** The newest word of each key, the one that was accepted last first. */
  authorizations: z.array(authorization),
});

export type AuthorizationAnswer = z.infer<typeof authorization>;
export type Authorizations = z.infer<typeof authorizations>;
