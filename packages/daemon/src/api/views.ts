import type { OperationReceipt, TargetView, TransactionView } from '@idunn/authority';
import {
  type History,
  type OperationReceiptAnswer,
  type TargetStatus,
  type TransactionAnswer,
  targetHealthOf,
} from '@idunn/client';
import type { HistoryEntry } from '@idunn/kernel';

/** A target's status: the engine's view with the one word for it. */
export function targetStatusOf(
  view: TargetView,
  attended: TargetStatus['attended'] = [],
  runsAs?: TargetStatus['runsAs'],
): TargetStatus {
  const status = { ...structuredClone(view), attended, ...(runsAs === undefined ? {} : { runsAs }) } as unknown as Omit<
    TargetStatus,
    'health'
  >;
  return { ...status, health: targetHealthOf(status) };
}

export const transactionAnswerOf = (view: TransactionView): TransactionAnswer =>
  ({ schema: 'idunn.transaction-view/v1', ...view }) as unknown as TransactionAnswer;

export const receiptAnswerOf = (receipt: OperationReceipt): OperationReceiptAnswer =>
  ({ schema: 'idunn.operation-receipt/v1', ...receipt }) as unknown as OperationReceiptAnswer;

export function historyOf(fleet: string, entries: readonly HistoryEntry[]): History {
  return {
    schema: 'idunn.history-view/v1',
    fleet,
    entries: entries.map((entry) => ({
      ...entry,
      at: new Date(entry.atMs).toISOString(),
      body: entry.body as History['entries'][number]['body'],
    })),
  };
}
