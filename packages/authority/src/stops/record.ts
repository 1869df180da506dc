import type { Digest, Outcome } from '@idunn/kernel';
import { digestBytes, ok, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';

/** What an operator or a steward can stop: deployments, or restarts. */
export type StopKind = 'freeze' | 'hold';

/** A stop is written by people and small programs; a larger file cannot be read as one. */
export const STOP_LIMIT_BYTES = 16_384;
/** Stands for every target of a fleet. No target can be called so. */
export const WHOLE_FLEET = '_fleet';

const shape = {
  /** Which target it is about, so that a file that was copied stops nothing else. */
  target: z.string().min(1).max(255),
  state: z.enum(['engaged', 'clear']),
  by: z.string().min(1).max(255),
  reason: z.string().max(1_000),
  since: z.iso.datetime(),
  /** Rises by one with each verb. For people: nothing is decided by it. */
  sequence: z.int().positive(),
};
const schemas = {
  freeze: z.strictObject({ schema: z.literal('idunn.freeze/v1'), ...shape }),
  hold: z.strictObject({ schema: z.literal('idunn.hold/v1'), ...shape }),
};
export type StopRecord = z.infer<(typeof schemas)[StopKind]>;

export interface Stop {
  readonly record: StopRecord;
  /** Digest of the record's exact bytes. */
  readonly digest: Digest;
}

/** The record that these bytes are, if they are one of this kind about this target. */
export function decodeStop(bytes: Buffer, kind: StopKind, target: string): Outcome<Stop> {
  const parsed = schemas[kind].safeParse(jsonOf(bytes));
  if (!parsed.success) return refused(refusal('stop-unreadable', `it is no idunn.${kind}/v1`));
  if (parsed.data.target !== target) {
    return refused(refusal('stop-unreadable', `it is the record of ${parsed.data.target}, not of ${target}`));
  }
  return ok({ record: parsed.data, digest: digestBytes(bytes) });
}

export const encodeStop = (record: StopRecord): Buffer => Buffer.from(`${JSON.stringify(record)}\n`);

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
