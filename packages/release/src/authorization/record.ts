import { envelopeSchema, type RecordKey, type RecordKind } from '@idunn/kernel';
import { z } from 'zod';

const KIND = 'release-authorization';

/**
 * The newest word of one authorizer about one target. What it superseded is kept by the plans that were made by it, and
 * told by the history.
 */
export const acceptedSchema = z.strictObject({
  schema: z.literal('idunn.accepted-authorization/v1'),
  target: z.string(),
  keyId: z.string(),
  sequence: z.int().nonnegative(),
  digest: z.string(),
  envelope: envelopeSchema,
  /** Wall clock, for people. */
  acceptedAtMs: z.number(),
  actor: z.string(),
  tenant: z.string(),
});
export type AcceptedRecord = z.infer<typeof acceptedSchema>;

/** The record kind that a store for authorizations is opened with. */
export const AUTHORIZATION_KIND: RecordKind = {
  space: 'catalogue',
  kind: KIND,
  versions: { 'idunn.accepted-authorization/v1': acceptedSchema },
};

export const keyOfAuthorization = (target: string, keyId: string): RecordKey => ({
  space: 'catalogue',
  kind: KIND,
  id: `${prefixOf(target)}${keyId}`,
});

export const prefixOf = (target: string): string => `${target}/`;
