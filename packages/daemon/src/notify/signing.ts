import { createHmac } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';

/** Bytes of a signing secret, as Standard Webhooks has it. */
const KEY_BYTES = { least: 24, most: 64 } as const;
/** `whsec_` and the most bytes in base64, with a line end. */
const FILE_LIMIT_BYTES = 256;
const FORM = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/**
 * The secret that a webhook is signed with, from a file that only the daemon's user (or root) owns and reads. A refusal
 * names the file and never a byte of it (F30).
 */
export async function readSigningKey(file: string, uid: number): Promise<Outcome<Buffer>> {
  const unusable = (because: string): Outcome<never> =>
    refused(refusal('notifier-secret-unusable', `The secret file ${file} ${because}.`));
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const about = await handle.stat();
      if (!about.isFile()) return unusable('is no regular file');
      if (about.uid !== uid && about.uid !== 0) return unusable(`belongs to uid ${about.uid}`);
      if ((about.mode & 0o077) !== 0) return unusable(`can be read by others: its mode is ${modeOf(about.mode)}`);
      if (about.size > FILE_LIMIT_BYTES) return unusable(`has more than ${FILE_LIMIT_BYTES} bytes`);
      const [, encoded] = FORM.exec((await handle.readFile('utf8')).trim()) ?? [];
      const key = Buffer.from(encoded ?? '', 'base64');
      if (key.length < KEY_BYTES.least || key.length > KEY_BYTES.most) {
        return unusable(`does not hold whsec_ and ${KEY_BYTES.least} to ${KEY_BYTES.most} bytes in base64`);
      }
      return ok(key);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return unusable(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it failed'}`);
  }
}

const modeOf = (mode: number): string => `0${(mode & 0o777).toString(8)}`;

/**
 * The headers of one attempt by the convention of Standard Webhooks: the same id for each attempt at one notice, the
 * time of this one, and with a key the signature over both and the exact bytes of the body.
 */
export function webhookHeaders(
  { id, timestampS, body }: { readonly id: string; readonly timestampS: number; readonly body: string },
  key: Buffer | null,
): Readonly<Record<string, string>> {
  const headers = { 'webhook-id': id, 'webhook-timestamp': `${timestampS}` };
  if (key === null) return headers;
  const signature = createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
