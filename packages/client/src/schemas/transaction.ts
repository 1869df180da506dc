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
  /** `null` when nobody wrote. */
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
  /** The freeze record that was read at each freeze read; `record: null` when there was none (I8). */
  freezes: z.array(z.object({ phase: z.string(), record: z.string().nullable() })),
  result: transactionResult.nullable(),
});

/** The durable answer to a command (I12). */
export const operationReceipt = z.object({
  schema: z.literal('idunn.operation-receipt/v1'),
  operationId: z.string(),
  target: z.string(),
  kind: z.enum(['up', 'takeover']),
  transaction: z.string(),
  ahead: z.array(z.object({ transaction: z.string(), actor: z.string(), phase: z.string() })),
  repeated: z.boolean(),
  stateVersion: z.int(),
});

export type TransactionResultAnswer = z.infer<typeof transactionResult>;
export type TransactionAnswer = z.infer<typeof transactionAnswer>;
export type OperationReceiptAnswer = z.infer<typeof operationReceipt>;
