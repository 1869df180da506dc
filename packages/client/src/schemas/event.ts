import { z } from 'zod';
import { instant, waitNote } from './common.ts';
import { transactionResult } from './transaction.ts';

const where = { at: instant, target: z.string(), transaction: z.string() };

/** What happens, as it happens; `idunn up --json` prints one a line, the outcome last. */
export const engineEvent = z.discriminatedUnion('event', [
  z.object({ ...where, event: z.literal('queued'), ahead: z.int() }),
  z.object({
    ...where,
    event: z.literal('phase'),
    phase: z.string(),
    tookMs: z.number().nullable(),
    note: z.string().nullable(),
  }),
  z.object({ ...where, event: z.literal('wait'), wait: waitNote.nullable() }),
  z.object({ ...where, event: z.literal('progress'), step: z.string(), text: z.string() }),
  z.object({ ...where, event: z.literal('outcome'), ...transactionResult.shape }),
  /** Something that a person should look at has begun, or has ended by itself. */
  z.object({
    ...where,
    transaction: z.null(),
    event: z.literal('incident'),
    state: z.enum(['opened', 'closed']),
    incident: z.string(),
    code: z.string(),
    detail: z.string(),
    remedy: z.string(),
  }),
]);

/**
 * The last line of `idunn up --json`: an outcome, or the end of our looking on. What nobody measured is `null`, never
 * zero: a command that was refused began nothing, and one that we stopped looking at goes on. What names a transaction
 * and was refused has no target.
 */
export const outcomeLine = z.object({
  ...where,
  target: z.string().nullable(),
  transaction: z.string().nullable(),
  event: z.literal('outcome'),
  ...transactionResult.shape,
  durationMs: z.number().nullable(),
  ownMs: z.number().nullable(),
  requests: transactionResult.shape.requests.nullable(),
});

export type OutcomeLine = z.infer<typeof outcomeLine>;
export type EventAnswer = z.infer<typeof engineEvent>;
export type OutcomeEvent = Extract<EventAnswer, { event: 'outcome' }>;
