import { z } from 'zod';

/** ISO 8601 with milliseconds, in UTC. For people; order never comes from it (F29). */
export const instant = z.iso.datetime();

/** `target@sha256:…`. */
export const incarnationKey = z.string().regex(/^[^@]+@sha256:[0-9a-f]{64}$/);

export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** One mistake in a file of the user's, with the line itself. */
export const fault = z.object({
  file: z.string(),
  line: z.int().positive(),
  column: z.int().positive(),
  message: z.string(),
  /** The faulty line's text. */
  text: z.string(),
});

export const refusal = z.object({
  code: z.string(),
  reason: z.string(),
  remedy: z.string(),
  /** Faults, last presence, last probe, last log lines: whatever the person needs to see. */
  detail: z.json().optional(),
});

/** A wait is never silent: on what, since when, until when, and what ends it (F2). */
export const waitNote = z.object({
  what: z.string(),
  since: instant,
  /** `null`: only the remedy ends it. */
  until: instant.nullable(),
  remedy: z.string(),
});

export const outcomeName = z.enum([
  'admitted',
  /** Continuity brought back what was admitted. */
  'restored',
  'unchanged',
  /** A takeover was recorded. */
  'done',
  'rejected',
  'aborted',
  'cancelled',
  'expired',
  'rolled-back',
  'operator-required',
  'waiting',
]);

export const problem = z.object({ schema: z.literal('idunn.refusal/v1'), refusal });

export type Fault = z.infer<typeof fault>;
export type RefusalAnswer = z.infer<typeof refusal>;
export type Problem = z.infer<typeof problem>;
export type WaitNoteAnswer = z.infer<typeof waitNote>;
export type OutcomeNameAnswer = z.infer<typeof outcomeName>;

/** How a target makes room for its next build; an outage by design says why. */
export const rollout = z.discriminatedUnion('strategy', [
  z.object({ strategy: z.literal('candidate-then-promote') }),
  z.object({ strategy: z.literal('stop-then-start'), reason: z.string() }),
]);
