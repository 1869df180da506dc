import { DIGEST_PATTERN, type Digest } from '@idunn/kernel';
import { z } from 'zod';
import type { IncarnationKey } from './expected.ts';

/** The most capabilities that one incarnation declares. */
export const MAX_CAPABILITIES = 64;
/** The longest detail of a presence, in characters. */
export const MAX_DETAIL_LENGTH = 1000;

/**
 * A published word. It begins with a letter or digit and never climbs (`..`), so that no absolute path, home
 * directory or URL with a password can pass for one: only sanitized facts leave the authority (I4).
 */
export const word = z.string().regex(/^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._:+/-]{0,199}$/);

/** A target's, fleet's or machine's name: a word without a slash. */
export const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);

export const digest = z.custom<Digest>(
  (value) => typeof value === 'string' && DIGEST_PATTERN.test(value),
  'a digest is sha256: and 64 hexadecimal digits',
);

export const keyId = z.string().regex(/^ed25519:[0-9a-f]{32}$/);

/** A raw Ed25519 public key: 32 bytes, base64 in its one spelling. */
export const publicKey = z.string().regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/);

const INCARNATION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}@sha256:[0-9a-f]{64}$/;

/** `target@sha256:…`; a bare target is the shape of an older projection and is never read. */
export const incarnation = z.custom<IncarnationKey>(
  (value) => typeof value === 'string' && INCARNATION.test(value),
  'an incarnation is a target, @ and a digest',
);

export const host = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$|^::1?$/);
export const port = z.int().min(1).max(65_535);
export const epoch = z.int().positive();

export const capabilities = z
  .array(z.strictObject({ name: word, schema: word }))
  .max(MAX_CAPABILITIES)
  .readonly();
