import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical.ts';

/** `sha256:` and 64 lower-case hexadecimal digits. */
export type Digest = `sha256:${string}`;

export const DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;

export const isDigest = (text: string): text is Digest => DIGEST_PATTERN.test(text);

/** SHA-256 over exact bytes; a string is taken as UTF-8. */
export function digestBytes(bytes: Uint8Array | string): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** SHA-256 over the RFC 8785 form of a JSON value. Throws `TypeError` for what JSON cannot carry. */
export const digestJson = (value: unknown): Digest => digestBytes(canonicalJson(value));
