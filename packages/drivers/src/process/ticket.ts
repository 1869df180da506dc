import { DIGEST_PATTERN, type Digest } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import type { StateContract } from '@idunn/release';
import { z } from 'zod';
import type { ActivationFiles } from './activation-directory.ts';
import { createPrivate, placePrivate, readOwnIfThere } from './files.ts';

const digest = z.custom<Digest>((value) => typeof value === 'string' && DIGEST_PATTERN.test(value));

/** The state that the program may write under its grant; kept where its user is not the daemon's own. */
const stateSchema = z.custom<StateContract>(
  (value) => typeof value === 'object' && value !== null && 'stores' in value,
);

/**
 * Created exclusively before the one start of an activation: who has created it may spawn, and nobody else ever (I1).
 * It keeps what a later daemon needs to find, observe and stop the process.
 */
const ticketSchema = z.strictObject({
  schema: z.literal('idunn.process-ticket/v1'),
  activation: z.string(),
  target: z.string(),
  release: digest,
  bootId: z.string(),
  pidNamespace: z.string(),
  /** Path in the unified hierarchy. */
  controlGroup: z.string().nullable(),
  singleProcess: z.boolean(),
  argv: digest,
  entry: z.string().nullable(),
  /** Whom it runs as, where that is not the daemon's own user. */
  runs: z.exactOptional(z.strictObject({ uid: z.int(), gid: z.int(), stateGid: z.int().nullable() })),
  state: z.exactOptional(stateSchema),
  /** No other activation of its target runs as this user at the same time. */
  alone: z.exactOptional(z.boolean()),
  log: z.strictObject({ bytes: z.int(), files: z.int() }),
  /** Of a gated start: its launcher, and digest of the argv of what holds the limits on the way to the program. */
  gate: z.exactOptional(
    z.strictObject({ launcher: z.strictObject({ argv: digest, entry: z.string() }), passing: digest.nullable() }),
  ),
});
export type Ticket = Readonly<z.infer<typeof ticketSchema>>;

const processSchema = z.strictObject({
  kind: z.literal('linux-process'),
  pid: z.int().positive(),
  startTime: z.string(),
  bootId: z.string(),
  controlGroup: z.string().nullable(),
  pidNamespace: z.string(),
});

/** `false` when the ticket was taken before. */
export const takeTicket = (files: ActivationFiles, ticket: Ticket): Promise<boolean> =>
  createPrivate(files.ticket, `${JSON.stringify(ticket)}\n`);

/** `null` without a ticket, `damaged` when it was not written whole. */
export const readTicket = ({ ticket }: Pick<ActivationFiles, 'ticket'>): Ticket | null | 'damaged' =>
  readRecord(ticket, ticketSchema);

export const recordProcess = (files: ActivationFiles, identity: RuntimeIdentity): Promise<void> =>
  placePrivate(files.process, `${JSON.stringify(identity)}\n`);

/** The identity that the start recorded; `null` when it died before it could. */
export const readProcess = (files: ActivationFiles): RuntimeIdentity | null | 'damaged' =>
  readRecord(files.process, processSchema);

function readRecord<T>(file: string, schema: z.ZodType<T>): T | null | 'damaged' {
  const text = readOwnIfThere(file);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return 'damaged';
  }
}
