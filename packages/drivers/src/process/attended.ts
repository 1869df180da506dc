import { type Header, headerSchema, openEnvelope, type SigningKey, verificationKeyOf } from '@idunn/kernel';
import { z } from 'zod';
import type { ActivationFiles } from './activation-directory.ts';
import { readIfThere } from './files.ts';

const launchSchema = z.looseObject({ header: headerSchema, attended: z.looseObject({}).optional() });

/**
 * Whether the launch document of an activation, signed by this authority, says that its program is attended. One that
 * cannot be read says so of nothing.
 */
export async function isAttended(
  files: ActivationFiles,
  audience: Header['audience'],
  authorityKey: SigningKey,
  activation: string,
): Promise<boolean> {
  const text = await readIfThere(files.launch);
  if (text === null) return false;
  const opened = openEnvelope({
    envelope: parseOrNull(text),
    keys: [verificationKeyOf(authorityKey)],
    schema: 'idunn.launch/v1',
    shape: launchSchema,
    audience,
    subject: activation,
  });
  return opened.ok && opened.value.payload.attended !== undefined;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
