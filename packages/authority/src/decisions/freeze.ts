import type { Phase } from '../model/phase.ts';
import type { Freeze } from '../ports/freeze-port.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { LOOK_AGAIN_MS } from './deadline.ts';
import { type Decision, type Persist, persist, wait } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';

/** The same release again: a hold suspends it, and no freeze does (I8). */
export const isRestart = ({ request }: Pick<TransactionRecord, 'request'>): boolean =>
  request.kind === 'restart' || request.kind === 'continuity';

/** Each stop that holds: who, why, since when, and how it is cleared. */
export function stopNote(stop: 'freeze' | 'hold', { by, reason, since, also = [], unreadable = [] }: Freeze): string {
  const others = also.map((other) => `${stopNote(stop, other)}, cleared by: ${other.clearedBy}`);
  return [`the ${stop} of ${by}: ${reason} (since ${since})`, ...others, ...unreadable].join('; and ');
}

const stopFor = (tx: TransactionRecord, e: DeployEvidence): DeployEvidence['freeze'] =>
  isRestart(tx) ? e.hold : e.freeze;

/**
 * What stopped the clock is over, wherever the transaction stands by now: its incumbent may have died meanwhile. The
 * clock goes on by a step of its own, so that the deadline is judged with the pause taken out.
 */
export const isOver = (tx: TransactionRecord, e: DeployEvidence): boolean =>
  tx.clock.frozenSince !== null && stopFor(tx, e).kind === 'absent';

/**
 * Reads the freeze before an irreversible step (I8). Engaged or unreadable it holds and stops the clock; what was read,
 * and when it admitted, becomes a part of the transaction.
 */
export function readFreeze(
  tx: TransactionRecord,
  e: DeployEvidence,
  phase: Phase,
  admitted: (read: Pick<Persist, 'freeze' | 'clock'>) => Decision,
): Decision {
  const freeze = stopFor(tx, e);
  if (freeze.kind === 'absent') return admitted({ freeze: { phase, record: null, admittedAt: e.now } });
  const record = freeze.kind === 'seen' ? freeze.value.record : null;
  const known = tx.freezes.at(-1);
  const noted = known !== undefined && known.phase === phase && known.record === record && known.admittedAt === null;
  if (tx.clock.frozenSince === null || !noted) {
    return persist(tx.state, {
      freeze: { phase, record, admittedAt: null },
      ...(tx.clock.frozenSince === null ? { clock: 'freeze' as const } : {}),
    });
  }
  const wakeAtMs = e.now.monotonicMs + LOOK_AGAIN_MS;
  const stop = isRestart(tx) ? 'hold' : 'freeze';
  return freeze.kind === 'seen'
    ? wait(stopNote(stop, freeze.value), freeze.value.clearedBy, { wakeAtMs })
    : wait(`a ${stop} that cannot be read: ${freeze.because}`, 'run that command as the owner of its directory', {
        wakeAtMs,
      });
}
