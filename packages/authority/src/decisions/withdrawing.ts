import { type Refusal, refusal } from '@idunn/kernel';
import { isPhase, phaseRow } from '../model/phase-table.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { Decision } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { because, giveUp, type Remains } from './failing.ts';

type Kind = NonNullable<TransactionRecord['withdrawal']>['kind'];

/** Kinds of request that an operator may take back; what brings a target back to life is not one of them (I9). */
const CANCELLABLE: ReadonlySet<TransactionRecord['request']['kind']> = new Set(['up', 'takeover', 'restart']);

/**
 * Why a transaction cannot be withdrawn so; `null`: it can. Asked in the same compare-and-swap that records the word,
 * so that nothing passes its fence in between (F21).
 */
export function whyNotWithdrawn(tx: TransactionRecord, kind: Kind): Refusal | null {
  return kind === 'cancel' ? whyNotCancelled(tx) : whyNotExpired(tx);
}

function whyNotCancelled(tx: TransactionRecord): Refusal | null {
  const { phase } = tx.state;
  if (tx.ended || tx.withdrawal !== null || phase === 'aborting') {
    return refusal('nothing-to-cancel', `${tx.id} ${wordFor(tx)}.`);
  }
  if (!CANCELLABLE.has(tx.request.kind)) {
    return refusal('too-late-to-cancel', `${tx.id} is a ${tx.request.kind}, which is not cancelled.`);
  }
  const open = phase === 'queued' || (isPhase(phase) && phaseRow(phase).cancellable);
  return open
    ? null
    : refusal('too-late-to-cancel', `${tx.id} is in ${phase}, past the step that begins its handover.`);
}

function whyNotExpired(tx: TransactionRecord): Refusal | null {
  const { state } = tx;
  const nothing = refusal('nothing-to-expire', `${tx.id} ${wordFor(tx)}.`);
  if (tx.ended || tx.withdrawal !== null) return nothing;
  if ('stuck' in state && state.stuck !== null) return nothing;
  if (tx.request.kind === 'continuity' && 'launch' in state && state.phase !== 'aborting') return null;
  const handover = 'passage' in state && state.phase !== 'returning';
  return handover || state.phase === 'warming' ? null : nothing;
}

const wordFor = (tx: TransactionRecord): string =>
  tx.ended
    ? `has ended: ${tx.result?.outcome ?? 'complete'}`
    : tx.withdrawal === null
      ? `is in ${tx.state.phase}`
      : 'is withdrawn already';

/** Before the fence the word is followed at once: candidate and build are stopped, the incumbent was never touched. */
export function decideWithdrawn(tx: TransactionRecord, e: DeployEvidence): Decision | null {
  const { withdrawal, state } = tx;
  const remains = withdrawal === null ? null : remainsOf(tx);
  if (withdrawal === null || remains === null) return null;
  const { kind, actor } = withdrawal;
  const why =
    kind === 'cancel'
      ? because('cancelled-by-operator', `${actor} cancelled it in ${state.phase}.`)
      : expiredBy(actor, state.phase);
  return giveUp(e, remains, why, kind === 'cancel' ? 'cancelled' : 'expired');
}

export const expiredBy = (actor: string, phase: string): Refusal =>
  because('expired-by-operator', `${actor} ended it in ${phase}.`);

/** What exists of a transaction before its fence; `null` past it. */
function remainsOf({ state }: TransactionRecord): Remains | null {
  switch (state.phase) {
    case 'queued':
    case 'planned':
    case 'materialized':
      return { subject: null, launch: null };
    case 'sealed':
    case 'expected-published':
      return { subject: state.subject, launch: null };
    case 'activation-issued':
    case 'candidate-started':
    case 'activation-observed':
    case 'warming':
      return { subject: state.subject, launch: state.launch };
    default:
      return null;
  }
}

/** Past the fence an operator's word is a deadline that has come; `null` without one. */
export const expiredAtMs = ({ withdrawal }: TransactionRecord, e: DeployEvidence): number | null =>
  withdrawal?.kind === 'expire' ? e.now.monotonicMs : null;
