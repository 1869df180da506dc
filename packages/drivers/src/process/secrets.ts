import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { LaunchContract } from '@idunn/release';
import { isSegment } from './activation-directory.ts';
import { isErrno } from './proc.ts';

/** Largest file of one secret, in bytes. */
export const SECRET_LIMIT_BYTES = 65_536;

export interface GatheredSecret {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Reads every secret of a launch contract; refused with the first that cannot be had. */
export async function gatherSecrets({ secrets }: LaunchContract): Promise<Outcome<readonly GatheredSecret[]>> {
  const gathered: GatheredSecret[] = [];
  for (const secret of secrets) {
    if (!isSegment(secret.name)) throw new TypeError('the name of a secret is not one plain path segment');
    const bytes = await readSecret(secret);
    if (!bytes.ok) return bytes;
    gathered.push({ name: secret.name, bytes: bytes.value });
  }
  return ok(gathered);
}

/** Reads the operator's file of a secret. A refusal names the secret and its file, never a byte of it (F30). */
async function readSecret(secret: { readonly name: string; readonly file: string }): Promise<Outcome<Buffer>> {
  const named = `The file ${secret.file} of secret ${secret.name}`;
  try {
    const handle = await open(secret.file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return refused(refusal('secret-missing', `${named} is no plain file.`));
      if ((stat.mode & 0o077) !== 0) {
        const mode = (stat.mode & 0o777).toString(8);
        return refused(refusal('secret-readable-by-others', `${named} has mode ${mode}.`));
      }
      if (stat.size > SECRET_LIMIT_BYTES) {
        return refused(
          refusal('secret-too-large', `${named} has ${stat.size} bytes; ${SECRET_LIMIT_BYTES} are allowed.`),
        );
      }
      return ok(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EACCES', 'ELOOP', 'ENOTDIR')) throw error;
    return refused(refusal('secret-missing', `${named} cannot be read.`));
  }
}
