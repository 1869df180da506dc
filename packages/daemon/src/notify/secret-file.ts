import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';

/** What a file of a notifier's is, and what may be in it. */
export interface SecretKind<T> {
  /** For people: `secret`. */
  readonly name: string;
  readonly limitBytes: number;
  /** What the text of the file, without its line end, is; or what it is not. */
  readonly read: (text: string) => { readonly value: T } | { readonly not: string };
}

/**
 * What a file holds that only the daemon's user (or root) owns and reads, reached without a symbolic link at its end. A
 * refusal names the file and never a byte of it (F30).
 */
export async function readSecretFile<T>(
  file: string,
  uid: number,
  { name, limitBytes, read }: SecretKind<T>,
): Promise<Outcome<T>> {
  const unusable = (because: string): Outcome<never> =>
    refused(refusal('notifier-secret-unusable', `The ${name} file ${file} ${because}.`));
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const about = await handle.stat();
      if (!about.isFile()) return unusable('is no regular file');
      if (about.uid !== uid && about.uid !== 0) return unusable(`belongs to uid ${about.uid}`);
      if ((about.mode & 0o077) !== 0) return unusable(`can be read by others: its mode is ${modeOf(about.mode)}`);
      if (about.size > limitBytes) return unusable(`has more than ${limitBytes} bytes`);
      const found = read((await handle.readFile('utf8')).trim());
      return 'value' in found ? ok(found.value) : unusable(`does not hold ${found.not}`);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return unusable(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it failed'}`);
  }
}

const modeOf = (mode: number): string => `0${(mode & 0o777).toString(8)}`;

/** What a header can carry after `Bearer`. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The token that a webhook is asked with. */
export const readToken = (file: string, uid: number): Promise<Outcome<string>> =>
  readSecretFile(file, uid, {
    name: 'token',
    limitBytes: 4_096,
    read: (text) => (TOKEN.test(text) ? { value: text } : { not: 'one word of visible ASCII' }),
  });
