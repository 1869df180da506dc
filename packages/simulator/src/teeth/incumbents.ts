import { type Decision, type DeployEvidence, decide, type TransactionRecord } from '@idunn/authority';
import { unknown } from '@idunn/kernel';
import { type Scenario, twoDeploys } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** I7: ends what serves as soon as a candidate runs, to have its memory. */
function withoutRoom(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { admitted } = e.target;
  if (tx.state.phase !== 'activation-observed' || admitted === null) return decide(tx, e);
  const { document, handle } = admitted;
  const effect = { kind: 'end-process', activation: document.activation, handle, graceMs: 100 } as const;
  return e.answers[`end-process ${document.activation}`] === undefined ? { kind: 'act', effect } : decide(tx, e);
}

/** I7: takes the lease row as it was when the handover was written down, and ends as if nothing had moved. */
function withOldRows(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  if (state.phase === 'aborting') return decide(tx, { ...e, rows: unknown('nobody asks') });
  const origin = 'passage' in state && tx.withdrawal !== null ? (state.passage?.origin ?? null) : null;
  if (origin === null || e.rows.kind !== 'seen') return decide(tx, e);
  const rows = Object.entries(e.rows.value).map(([store, row]) => [store, { ...row, ...origin }]);
  return decide(tx, { ...e, rows: { kind: 'seen', value: Object.fromEntries(rows) } });
}

const expired: Scenario = {
  ...twoDeploys('never-active'),
  orders: [{ atMs: 900, kind: 'expire', target: 'app' }],
};

/** What a deployment does to the one that serves. */
export const TEETH_OF_INCUMBENTS: readonly Tooth[] = [
  { name: 'makes room before the fence', breaks: 'I7', scenario: twoDeploys('never-warms'), decide: withoutRoom },
  { name: 'expires as if nothing had moved', breaks: 'I7', scenario: expired, decide: withOldRows },
];
