import { createHmac } from 'node:crypto';
import type { Outcome } from '@idunn/kernel';
import { readSecretFile } from './secret-file.ts';

/** Bytes of a signing secret, as Standard Webhooks has it. */
const KEY_BYTES = { least: 24, most: 64 } as const;
/** `whsec_` and the most bytes in base64, with a line end. */
const FILE_LIMIT_BYTES = 256;
const FORM = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** The key that a webhook is signed with. */
export const readSigningKey = (file: string, uid: number): Promise<Outcome<Buffer>> =>
  readSecretFile(file, uid, {
    name: 'secret',
    limitBytes: FILE_LIMIT_BYTES,
    read(text) {
      const [, encoded] = FORM.exec(text) ?? [];
      const value = Buffer.from(encoded ?? '', 'base64');
      if (value.length >= KEY_BYTES.least && value.length <= KEY_BYTES.most) return { value };
      return { not: `whsec_ and ${KEY_BYTES.least} to ${KEY_BYTES.most} bytes in base64` };
    },
  });

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
