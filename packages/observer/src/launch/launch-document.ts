import { headerSchema, type Outcome, ok, openEnvelope, verificationKey } from '@idunn/kernel';
import { expectedSchema } from '@idunn/readiness';
import { z } from 'zod';

/**
 * The launch document of docs/workload-protocol.md, as an observer may get it: no state, no endpoint, no other
 * observer.
 */
const launchSchema = z.strictObject({
  header: headerSchema,
  target: z.string(),
  incarnation: z.custom<`${string}@sha256:${string}`>((value) => typeof value === 'string'),
  activation: z.string(),
  authority: z.strictObject({ keyId: z.string(), publicKey: z.string() }),
  observer: z.null(),
  endpoint: z.null(),
  expected: expectedSchema,
  state: z.null(),
  presenceEveryMs: z.int().positive(),
  secrets: z.array(z.string()),
});
export type Launch = Readonly<z.infer<typeof launchSchema>>;

const authoritySchema = z.looseObject({ authority: z.looseObject({ publicKey: z.string() }) });
const audienceSchema = z.looseObject({ header: headerSchema });

/**
 * Reads the launch document. The program trusts the directory that it was given: the envelope is checked against the
 * authority inside it, whose key then holds for everything that follows. Throws for what is no launch document at all.
 */
export function readLaunch(text: string): Outcome<Launch> {
  const envelope: unknown = JSON.parse(text);
  const { payload } = z.looseObject({ payload: z.string() }).parse(envelope);
  const inside: unknown = JSON.parse(Buffer.from(payload, 'base64').toString('utf8'));
  const key = verificationKey(authoritySchema.parse(inside).authority.publicKey);
  const { audience } = audienceSchema.parse(inside).header;
  const opened = openEnvelope({ envelope, keys: [key], schema: 'idunn.launch/v1', shape: launchSchema, audience });
  return opened.ok ? ok(opened.value.payload) : opened;
}
