import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { isErrno } from './proc.ts';

/** Largest file of one secret, in bytes. */
export const SECRET_LIMIT_BYTES = 65_536;

/** Reads the operator's file of a secret. A refusal names the secret and its file, never a byte of it (F30). */
export async function readSecret(secret: { readonly name: string; readonly file: string }): Promise<Outcome<Buffer>> {
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
