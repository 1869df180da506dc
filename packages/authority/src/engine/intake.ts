import { canonicalJson, type Mutation, moment, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { EngineOptions, EnginePorts } from '../ports/engine-ports.ts';
import type { OperationRecord } from '../records/operation.ts';
import { isPastKeeping, noReceipts, type ReceiptsRecord, withReceipt } from '../records/receipts.ts';
import { QUEUE_LIMIT, type TargetRecord } from '../records/target.ts';
import { newTransaction, type TransactionRecord } from '../records/transaction.ts';
import type { Command, OperationReceipt, Requester } from './api.ts';
import { type Held, type Journal, put } from './journal.ts';

/** Races with the engine's own progress that one intake sits out before it gives the command back. */
export const INTAKE_ATTEMPTS = 32;
/** This machine's only instance; others come with `region/`. */
const INSTANCE = 'local';

export interface IntakeContext {
  readonly ports: EnginePorts;
  readonly options: EngineOptions;
  readonly journal: Journal;
}

export const blankTarget = (target: string, machine: string): TargetRecord => ({
  schema: 'idunn.target/v1',
  target,
  instance: INSTANCE,
  machine,
  admitted: null,
  stranded: null,
  takenBy: null,
  restart: null,
  awaitedBy: null,
  highestEpoch: 0,
  queue: [],
  draining: [],
  retained: [],
});

/**
 * Takes a command by one compare-and-swap: receipt, desire, queue and transaction stand together or not at all (F24).
 * A repeat returns the first receipt; another request under the same id is refused, and so is an id whose receipt may
 * have been let go (I12).
 */
export async function takeIn(context: IntakeContext, command: Command): Promise<Outcome<OperationReceipt>> {
  const { options, journal } = context;
  const known = await journal.read('operation', command.operationId);
  if (known !== null) return repeated(known, { ...command, request: requestOf(command) });
  if (!options.targets().includes(command.target)) {
    return refused(refusal('target-not-bound', `No binding of fleet ${options.fleet} names ${command.target}.`));
  }
  for (let attempt = 0; attempt < INTAKE_ATTEMPTS; attempt += 1) {
    const held = await journal.read('target', command.target);
    const target = held?.value ?? blankTarget(command.target, options.machine);
    if (target.queue.length > Math.min(options.queueDepth?.() ?? QUEUE_LIMIT, QUEUE_LIMIT)) {
      return refused(
        refusal('queue-full', `${target.queue.length} commands are ahead of this one on ${command.target}.`),
      );
    }
    const nothing = command.kind === 'restart' && target.admitted === null && target.stranded === null;
    if (nothing) return refused(refusal('nothing-to-restart', `Nothing of ${command.target} is admitted.`));
    const receipts = await journal.read('receipts', command.target);
    if (receipts !== null && isPastKeeping(receipts.value, command.operationId)) {
      return refused(refusal('operation-unknown', `${command.operationId} has no receipt any more, or never had one.`));
    }
    const taken = await accept(context, command, target, { target: held, receipts });
    if (taken !== 'conflict') return taken;
    const meanwhile = await journal.read('operation', command.operationId);
    if (meanwhile !== null) return repeated(meanwhile, { ...command, request: requestOf(command) });
  }
  return refused(refusal('intake-uncertain', `The command ${command.operationId} met ${INTAKE_ATTEMPTS} conflicts.`));
}

async function accept(
  { ports, options, journal }: IntakeContext,
  command: Command,
  target: TargetRecord,
  held: { readonly target: Held<TargetRecord> | null; readonly receipts: Held<ReceiptsRecord> | null },
): Promise<Outcome<OperationReceipt> | 'conflict'> {
  const now = moment(ports.clock);
  const { actor, tenant } = command;
  const request = requestOf(command);
  const tx = newTransaction({
    id: ports.ids.fresh('tx'),
    target: command.target,
    instance: INSTANCE,
    machine: options.machine,
    operation: command.operationId,
    actor,
    tenant,
    request,
    intakeAt: now,
  });
  const operation: OperationRecord = {
    schema: 'idunn.operation/v1',
    operation: command.operationId,
    target: command.target,
    actor,
    tenant,
    request,
    transaction: tx.id,
    ahead: await aheadOf(journal, target),
    at: now,
  };
  const { next, dropped } = withReceipt(held.receipts?.value ?? noReceipts(command.target), command.operationId);
  const queued = { ...target, queue: [...target.queue, tx.id] };
  const mutations: Mutation[] = [
    put('operation', command.operationId, operation, 'absent'),
    put('target', command.target, queued, held.target?.generation ?? 'absent'),
    put('transaction', tx.id, tx, 'absent'),
    put('receipts', command.target, next, held.receipts?.generation ?? 'absent'),
  ];
  if (dropped !== null) mutations.push(put('operation', dropped, null));
  if (command.kind === 'up') {
    mutations.push(
      put('desired', command.target, {
        schema: 'idunn.desired/v1',
        target: command.target,
        desired: 'up',
        ref: command.ref,
        operation: command.operationId,
        actor,
        tenant,
        at: now,
      }),
    );
  }
  const body = { transaction: tx.id, operation: command.operationId, request };
  const entry = { kind: 'command.accepted', subject: command.target, actor, tenant, atMs: now.wallMs, body };
  const result = await journal.commit(mutations, [entry]);
  switch (result.kind) {
    case 'committed':
      return ok(receiptOf(operation, result.generations[0] ?? result.stateVersion, false));
    case 'conflict':
      return 'conflict';
    case 'unknown':
      return refused(refusal('intake-uncertain', result.because));
  }
}

function requestOf(command: Command): Exclude<TransactionRecord['request'], { kind: 'continuity' }> {
  switch (command.kind) {
    case 'up':
      return { kind: 'up', ref: command.ref };
    case 'takeover':
      return { kind: 'takeover', confirm: command.confirm };
    case 'restart':
      return { kind: 'restart' };
  }
}

async function aheadOf(journal: Journal, target: TargetRecord): Promise<OperationRecord['ahead']> {
  const held = await Promise.all(target.queue.map((id) => journal.read('transaction', id)));
  return held
    .filter((one) => one !== null)
    .map(({ value }) => ({ transaction: value.id, actor: value.actor, phase: value.state.phase }));
}

/** The first answer to a repeat of exactly this request by exactly this requester; anything else is a conflict. */
export function repeated(
  { value, generation }: Held<OperationRecord>,
  asked: Requester & { readonly target: string; readonly request: OperationRecord['request'] },
): Outcome<OperationReceipt> {
  const told = ({ request, target, actor, tenant }: typeof asked): string =>
    canonicalJson({ ...request, of: target, by: actor, tenant });
  if (told(asked) === told(value)) return ok(receiptOf(value, generation, true));
  const id = value.operation;
  return refused(refusal('operation-conflict', `The operation ${id} was another request on ${value.target}.`));
}

export const receiptOf = (record: OperationRecord, stateVersion: number, isRepeat: boolean): OperationReceipt => ({
  operationId: record.operation,
  target: record.target,
  kind: record.request.kind,
  transaction: record.transaction,
  ahead: record.ahead as OperationReceipt['ahead'],
  repeated: isRepeat,
  stateVersion,
});
