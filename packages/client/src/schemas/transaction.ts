import { z } from 'zod';
import { incarnationKey, instant, outcomeName, refusal, waitNote } from './common.ts';

/** How a transaction ended. Durations in milliseconds. */
export const transactionResult = z.object({
  outcome: outcomeName,
  incarnation: incarnationKey.nullable(),
  revision: z.string().nullable(),
  /** From intake to outcome. */
  durationMs: z.number(),
  /** `durationMs` less the recipe's steps, fetches and the program's own start. */
  ownMs: z.number(),
  /** `null` when there was none of either before the admission. */
  writeGapMs: z.number().nullable(),
  requests: z.object({ held: z.int(), failed: z.int(), longestHoldMs: z.number() }),
  refusal: refusal.nullable(),
});

export const transactionAnswer = z.object({
  schema: z.literal('idunn.transaction-view/v1'),
  id: z.string(),
  kind: z.string(),
  target: z.string(),
  actor: z.string(),
  tenant: z.string(),
  phase: z.string(),
  since: instant,
  phases: z.array(
    z.object({ phase: z.string(), at: instant, tookMs: z.number().nullable(), note: z.string().nullable() }),
  ),
  waitingOn: waitNote.nullable(),
  incarnation: incarnationKey.nullable(),
  revision: z.string().nullable(),
  /**
   * What was read before each irreversible step (I8): the digest of the freeze record, `null` when there was none, and
   * when it admitted, `null` when it held. Both are `null` for one that could not be read.
   */
  freezes: z.array(z.object({ phase: z.string(), record: z.string().nullable(), admittedAt: instant.nullable() })),
  result: transactionResult.nullable(),
});

/** The durable answer to a command (I12). */
export const operationReceipt = z.object({
  schema: z.literal('idunn.operation-receipt/v1'),
  operationId: z.string(),
  target: z.string(),
  kind: z.enum(['up', 'takeover', 'restart', 'cancel', 'expire']),
  transaction: z.string(),
  ahead: z.array(z.object({ transaction: z.string(), actor: z.string(), phase: z.string() })),
  repeated: z.boolean(),
  stateVersion: z.int(),
});

export type TransactionResultAnswer = z.infer<typeof transactionResult>;
export type TransactionAnswer = z.infer<typeof transactionAnswer>;
export type OperationReceiptAnswer = z.infer<typeof operationReceipt>;
