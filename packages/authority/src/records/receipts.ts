import { z } from 'zod';
import { nameSchema } from './words.ts';

/** Operation receipts that are kept for each target. */
export const RECEIPT_LIMIT = 256;

/** Which receipts of a target are kept. Ids are ordered as text; the greatest are kept. */
export const receiptsSchema = z.strictObject({
  schema: z.literal('idunn.receipts/v1'),
  target: nameSchema,
  /** Rising. */
  kept: z.array(nameSchema).max(RECEIPT_LIMIT).readonly(),
  /** The greatest id that was let go; `null` while none was. */
  evicted: nameSchema.nullable(),
});
export type ReceiptsRecord = z.infer<typeof receiptsSchema>;

export const noReceipts = (target: string): ReceiptsRecord => ({
  schema: 'idunn.receipts/v1',
  target,
  kept: [],
  evicted: null,
});

/**
 * Whether an id without a receipt may have been run: at or below the greatest evicted one it is never run again (I12).
 * The order is the id's own; no clock of ours is asked. Below everything kept, a full record has no room for it either.
 */
export const isPastKeeping = ({ kept, evicted }: ReceiptsRecord, operation: string): boolean =>
  (evicted !== null && operation <= evicted) || (kept.length >= RECEIPT_LIMIT && operation < (kept[0] ?? ''));

/** The receipts with one more, which is not past keeping; `dropped` names the one that has to go for it. */
export function withReceipt(
  receipts: ReceiptsRecord,
  operation: string,
): { readonly next: ReceiptsRecord; readonly dropped: string | null } {
  const kept = [...receipts.kept, operation].sort((a, b) => (a < b ? -1 : 1));
  const dropped = kept.length > RECEIPT_LIMIT ? (kept.shift() ?? null) : null;
  return { next: { ...receipts, kept, evicted: dropped ?? receipts.evicted }, dropped };
}
