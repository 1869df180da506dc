import { headerSchema } from '@idunn/kernel';
import { z } from 'zod';
import {
  activationSchema,
  disagreementsSchema,
  expectedSchema,
  observedRuntimeSchema,
  presenceState,
} from '../model/schemas.ts';
import { digest, epoch, incarnation, keyId, name, publicKey, word } from '../model/words.ts';

/** The most keys that a target's trust anchor holds: the one in use and those that retire. */
export const MAX_ANCHOR_KEYS = 4;
/** The most incarnations that one batch tells about; longer news goes in several. */
export const MAX_BATCH = 128;
/** The observer says at least this often that it is there, in milliseconds. */
export const HEARTBEAT_MS = 5_000;
/** A link on which nothing was heard for this long is down, in milliseconds. */
export const SILENCE_MS = 15_000;

const challenge = z.string().regex(/^[0-9a-f]{64}$/);

/** What the authority instructs. The trust anchor is keyed by target, all else by incarnation. */
export const observerRequestSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('anchor'),
    target: name,
    keys: z.array(z.strictObject({ keyId, publicKey })).min(1).max(MAX_ANCHOR_KEYS).readonly(),
  }),
  z.strictObject({ kind: z.literal('publish-expected'), incarnation, expected: expectedSchema }),
  /** Only with what the driver observed: an issued activation alone cannot be published (I4). */
  z.strictObject({
    kind: z.literal('publish-activation'),
    activation: activationSchema,
    observed: observedRuntimeSchema,
  }),
  z.strictObject({ kind: z.literal('demote'), incarnation, activation: word }),
  z.strictObject({ kind: z.literal('withdraw'), incarnation }),
]);
export type ObserverRequest = Readonly<z.infer<typeof observerRequestSchema>>;

/** Signed by the authority; `header.sequence` rises over all requests of the fleet. */
export const signedRequestSchema = z.strictObject({ header: headerSchema, request: observerRequestSchema });

/** Signed by the authority, first on each connection; the welcome answers its challenge. */
export const helloSchema = z.strictObject({ header: headerSchema, challenge });

/** Signed by the observer: who it is itself, and the authority's last sequence that it took. */
export const welcomeSchema = z.strictObject({
  header: headerSchema,
  challenge,
  incarnation,
  activation: word,
  requestSequence: z.int().nonnegative(),
});

/** Signed by the observer once the request is durable, or refused; `header.requestId` is the request's. */
export const ackSchema = z.strictObject({
  header: headerSchema,
  refusal: z.strictObject({ code: z.string().max(64), reason: z.string().max(8192) }).nullable(),
});

/** One incarnation as it stands. */
export const standingSchema = z.strictObject({
  incarnation,
  activation: word.nullable(),
  present: z
    .strictObject({
      state: presenceState,
      epoch: epoch.nullable(),
      presenceSequence: z.int().positive(),
      presence: digest,
      fresh: z.boolean(),
    })
    .nullable(),
  ready: z.strictObject({ receipt: digest, epoch: epoch.nullable(), presenceSequence: z.int().positive() }).nullable(),
  disagreements: disagreementsSchema,
});
export type Standing = Readonly<z.infer<typeof standingSchema>>;

/**
 * Signed by the observer: refreshes that changed nothing else, in one signature; or, after a hello, all that it holds
 * (`roster` up to and with `roster-end`). An empty one is a heartbeat.
 */
export const batchSchema = z.strictObject({
  header: headerSchema,
  kind: z.enum(['refresh', 'roster', 'roster-end']),
  standings: z.array(standingSchema).max(MAX_BATCH).readonly(),
});

/** The types of the link's lines, `{"type": T, "envelope": E}`, with the schema of each payload. */
export const LINK_SCHEMAS = {
  hello: 'idunn.observer-hello/v1',
  welcome: 'idunn.observer-welcome/v1',
  request: 'idunn.observer-request/v1',
  ack: 'idunn.observer-ack/v1',
  statement: 'idunn.present/v1',
  receipt: 'idunn.ready/v1',
  batch: 'idunn.observer-batch/v1',
} as const;
export type LinkLineType = keyof typeof LINK_SCHEMAS;

/** One line: what it claims to be, and an envelope that is still to be opened. */
export const lineSchema = z.looseObject({ type: z.string().max(64), envelope: z.unknown().optional() });
