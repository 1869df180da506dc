import { posix } from 'node:path';
import type { Digest } from '@idunn/kernel';
import { z } from 'zod';

/** Field types that recipe, binding and fleet share. */

export const nameOf = (what: string) =>
  z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, `${what} has 1 to 63 lower-case letters, digits and inner dashes`);

export const target = nameOf('a target');
export const id = nameOf('an id');

/** A dotted contract name such as `ghostlight.world`, or a versioned one such as `ghostlight/3`. */
export const contractName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/,
    'a contract name has letters, digits, dots, slashes and dashes, at most 128',
  );

export const program = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/, 'a plain name without a slash, at most 64 characters');

export const environmentName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'an environment name has letters, digits and underscores')
  .refine((name) => !name.startsWith('IDUNN_'), 'names that begin with IDUNN_ belong to Idunn');

/** Text without NUL, which neither argv nor an environment can carry. */
export const word = z
  .string()
  .max(32_768, 'at most 32,768 characters')
  .refine((text) => !text.includes('\0'), 'a NUL character cannot be passed to a program');

const normal = (path: string): boolean => !/\p{Cc}/u.test(path) && posix.normalize(path) === path;

export const absolutePath = z
  .string()
  .max(4_096)
  .refine(
    (path) => posix.isAbsolute(path) && normal(path) && (path === '/' || !path.endsWith('/')),
    'an absolute path, without "..", ".", // or a slash at its end',
  );

/** Inside its root: no `..`, no `.`; `.` alone where the root itself may be meant. */
export const relativePath = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    (path) => !posix.isAbsolute(path) && normal(path) && path !== '.' && !escapes(path) && !path.endsWith('/'),
    'a relative path that stays inside, without "..", ".", // or a slash at its end',
  );
export const relativePathOrRoot = z.union([z.literal('.'), relativePath], 'a relative path, or "."');

const escapes = (path: string): boolean => path === '..' || path.startsWith('../');

export const digest = z
  .string()
  .regex(/^(?:sha256:)?[0-9a-f]{64}$/, 'a SHA-256: 64 lower-case hexadecimal digits')
  .transform((text): Digest => (text.startsWith('sha256:') ? (text as Digest) : `sha256:${text}`));

export const objectId = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'a full git object id: 40 or 64 lower-case hexadecimal digits');

/** A fully qualified ref, by the rules of git-check-ref-format. */
export const ref = z
  .string()
  .max(255)
  .refine(isQualifiedRef, 'a full ref such as refs/heads/main, as git check-ref-format accepts it');

export function isQualifiedRef(name: string): boolean {
  return (
    /^refs\/(?:heads|tags)\/[^\p{Cc} ~^:?*[\\]+$/u.test(name) &&
    !name.includes('..') &&
    !name.includes('@{') &&
    !name.includes('//') &&
    !/[/.]$/.test(name) &&
    name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

export const positive = (most: number) => z.int().min(1).max(most);
export const durationMs = (mostMs: number) => z.int().min(1).max(mostMs);
export const port = z.int().min(1).max(65_535);

export const HOUR_MS = 3_600_000;

/** Where a service's argv or environment word comes from when it is no literal. */
export const slotName = z
  .string()
  .regex(
    /^(?:state-root|endpoint-(?:host|port)|activation-directory|(?:state-path|artifact|operator):[a-z0-9-]{1,63})$/,
    'a slot is state-root, state-path:ID, endpoint-host, endpoint-port, activation-directory, artifact:ID, operator:ID',
  );

export const launchWord = z.union([word, z.strictObject({ slot: slotName })], 'a text, or { slot = "…" }');
