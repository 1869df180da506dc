import { type Mutation, moment, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { conclude } from '../decisions/decision.ts';
import { whyNotWithdrawn } from '../decisions/withdrawing.ts';
import type { OperationRecord } from '../records/operation.ts';
import { isPastKeeping, noReceipts, withReceipt } from '../records/receipts.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { OperationReceipt, TransactionResult, Withdrawal } from './api.ts';
import { applyPersist } from './apply.ts';
import { INTAKE_ATTEMPTS, type IntakeContext, receiptOf, repeated } from './intake.ts';
import { type Held, put } from './journal.ts';

export interface Withdrawn {
  readonly receipt: OperationReceipt;
  /** How a transaction ended that only waited in the queue; `null` for one at work, which ends by itself now. */
  readonly ended: TransactionResult | null;
}

/**
 * An operator's word that ends a transaction: receipt and word are one compare-and-swap with the transaction as it
 * stands, so it is either followed or refused, and never overtaken by a fence (F21, I12).
 */
export async function withdraw(context: IntakeContext, command: Withdrawal): Promise<Outcome<Withdrawn>> {
  const { journal, ports } = context;
  const { operationId, kind, transaction, actor, tenant } = command;
  const request = { kind, transaction } as const;
  for (let attempt = 0; attempt < INTAKE_ATTEMPTS; attempt += 1) {
    const known = await journal.read('operation', operationId);
    if (known !== null) {
      const again = repeated(known, { actor, tenant, target: known.value.target, request });
      return again.ok ? ok({ receipt: again.value, ended: null }) : again;
    }
    const held = await journal.read('transaction', transaction);
    if (held === null) return refused(refusal('transaction-unknown', `no transaction ${transaction} is kept`));
    const { target } = held.value;
    const why = whyNotWithdrawn(held.value, kind);
    if (why !== null) return refused(why);
    const [receipts, record] = await Promise.all([journal.read('receipts', target), journal.read('target', target)]);
    if (receipts !== null && isPastKeeping(receipts.value, operationId)) {
      return refused(refusal('operation-unknown', `${operationId} has no receipt any more, or never had one.`));
    }
    const now = moment(ports.clock);
    const operation: OperationRecord = {
      schema: 'idunn.operation/v1',
      operation: operationId,
      target,
      actor,
      tenant,
      request,
      transaction,
      ahead: [],
      at: now,
    };
    const { next, dropped } = withReceipt(receipts?.value ?? noReceipts(target), operationId);
    const waits = waiting(held.value, record, operation, now);
    const withdrawn = waits?.tx ?? {
      ...held.value,
      withdrawal: { kind, operation: operationId, actor, tenant, at: now },
    };
    const mutations: Mutation[] = [
      put('operation', operationId, operation, 'absent'),
      put('transaction', transaction, withdrawn, held.generation),
      put('receipts', target, next, receipts?.generation ?? 'absent'),
      ...(dropped === null ? [] : [put('operation', dropped, null)]),
      ...(waits === null || record === null ? [] : [put('target', target, waits.target, record.generation)]),
    ];
    const body = { transaction, operation: operationId, request };
    const accepted = { kind: 'command.accepted', subject: target, actor, tenant, atMs: now.wallMs, body };
    const result = await journal.commit(mutations, [accepted, ...(waits?.history ?? [])]);
    if (result.kind === 'unknown') return refused(refusal('intake-uncertain', result.because));
    if (result.kind === 'committed') {
      const receipt = receiptOf(operation, result.generations[0] ?? result.stateVersion, false);
      return ok({ receipt, ended: waits?.tx.result ?? null });
    }
  }
  return refused(refusal('intake-uncertain', `The command ${operationId} met ${INTAKE_ATTEMPTS} conflicts.`));
}

/** One that has not begun leaves the queue in the same commit; `null` for one at work. */
function waiting(
  tx: TransactionRecord,
  record: Held<TargetRecord> | null,
  { operation, actor, tenant, at }: OperationRecord,
  now: OperationRecord['at'],
): ReturnType<typeof applyPersist> | null {
  if (record === null || tx.state.phase !== 'queued' || record.value.queue[0] === tx.id) return null;
  const refusalOf = refusal('cancelled-by-operator', `${actor} cancelled it in the queue.`);
  const withdrawn = { ...tx, withdrawal: { kind: 'cancel' as const, operation, actor, tenant, at } };
  const decision = conclude({ phase: 'complete' }, 'cancelled', {
    incarnation: null,
    revision: null,
    refusal: refusalOf,
  });
  return applyPersist(withdrawn, record.value, decision, now);
}
