import { type Decision, type DeployEvidence, decide, type EnginePorts, type TransactionRecord } from '@idunn/authority';
import { type Scenario, twoDeploys } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** I12: keeps no receipt of what it was asked. */
const withoutReceipts = (ports: EnginePorts): EnginePorts => ({
  ...ports,
  store: {
    ...ports.store,
    commit: (batch) =>
      ports.store.commit({ ...batch, mutations: batch.mutations.filter(({ key }) => key.kind !== 'operation') }),
  },
});

/** I12: takes back what was ordered, and goes on all the same. */
const withoutHeed = (tx: TransactionRecord, e: DeployEvidence): Decision => decide({ ...tx, withdrawal: null }, e);

const cancelled: Scenario = {
  ...twoDeploys('good'),
  strikes: [{ kind: 'deploy', phase: 'sealed', fault: 'cancelled' }],
};

/** What was ordered. */
export const TEETH_OF_COMMANDS: readonly Tooth[] = [
  {
    name: 'runs a repeated command again',
    breaks: 'I12',
    // It dies as the first command has become durable: whoever gave it repeats it.
    scenario: { ...twoDeploys('good'), crashAt: 2 },
    ports: withoutReceipts,
  },
  { name: 'overlooks a cancel', breaks: 'I12', scenario: cancelled, decide: withoutHeed },
];
