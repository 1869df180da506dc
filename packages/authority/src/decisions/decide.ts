import type { TransactionRecord } from '../records/transaction.ts';
import { decideExpected, decideLaunching, issue } from './candidate.ts';
import { decideAborting, decideDraining } from './clearing.ts';
import { type Decision, enter, persist } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { fencedAfterAll } from './fenced-after-all.ts';
import { isOver } from './freeze.ts';
import { decideHandover } from './handover.ts';
import { decideMaterialized, decidePlanned, decideSealed } from './preparing.ts';
import { decideRestart } from './restarting.ts';
import { decideContinuing, decideRestoring } from './restoring.ts';
import { decideReturning } from './returning.ts';
import { decideTakeover } from './takeover.ts';
import { decideWarming } from './warming.ts';
import { decideWithdrawn } from './withdrawing.ts';

/**
 * The next step of a transaction. Pure: the same record and evidence always give the same step; it cannot act and
 * cannot read a clock.
 */
export function decide(tx: TransactionRecord, e: DeployEvidence): Decision {
  const rebooted = afterReboot(tx, e);
  if (rebooted !== null) return rebooted;
  const withdrawn = decideWithdrawn(tx, e);
  if (withdrawn !== null) return withdrawn;
  if (isOver(tx, e)) return persist(tx.state, { clock: 'thaw' });
  return tx.request.kind === 'continuity' ? decideContinuing(tx, e, () => step(tx, e)) : step(tx, e);
}

function step(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  switch (state.phase) {
    case 'queued':
      return enter({ phase: 'planned' }, { entered: [{ phase: 'planned' }], clock: 'restart' });
    case 'planned':
      return decideBegun(tx, e);
    case 'materialized':
      return decideMaterialized(tx, e, state);
    case 'sealed':
      return decideSealed(tx, e, state);
    case 'expected-published':
      return decideExpected(tx, e, state);
    case 'activation-issued':
    case 'candidate-started':
    case 'activation-observed':
      return decideLaunching(tx, e, state);
    case 'warming':
      return decideWarming(tx, e, state);
    case 'incumbent-fenced':
    case 'write-lease-granted':
    case 'ready-observed':
    case 'route-published':
    case 'route-observed':
      return tx.request.kind === 'continuity' ? decideRestoring(tx, e, state) : decideHandover(tx, e, state);
    case 'draining':
      return decideDraining(tx, e, state);
    case 'returning':
      return decideReturning(tx, e, state);
    case 'aborting':
      return fencedAfterAll(tx, e, state) ?? decideAborting(tx, e, state);
    case 'complete':
      throw new Error('a complete transaction decides nothing');
  }
}

function decideBegun(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { request } = tx;
  switch (request.kind) {
    case 'up':
      return decidePlanned(tx, e, request.ref);
    case 'takeover':
      return decideTakeover(tx, e, request.confirm);
    case 'restart':
      return decideRestart(tx, e);
    case 'continuity':
      throw new Error('a restart of continuity begins with its launch');
  }
}

/**
 * A monotonic clock says nothing over a reboot (F29): the phase's clock begins anew. An activation of before is void,
 * and before the fence a new one is minted for the same release.
 */
function afterReboot(tx: TransactionRecord, e: DeployEvidence): Decision | null {
  if (tx.clock.startedAt.bootId === e.now.bootId) return null;
  const { state } = tx;
  switch (state.phase) {
    case 'candidate-started':
    case 'activation-observed':
    case 'warming':
      return issue(tx, e, state.subject);
    default:
      return persist(state, { clock: 'restart' });
  }
}
