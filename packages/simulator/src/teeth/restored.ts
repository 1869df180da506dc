import { type Decision, type DeployEvidence, decide, type TransactionRecord } from '@idunn/authority';
import { absent, seen, unknown } from '@idunn/kernel';
import { ALONE, GATED, type Scenario, twoDeploys } from '../scenario.ts';
import type { TargetShape } from '../world/sources.ts';
import type { Tooth } from './tooth.ts';

/** Takes whoever holds the lease for a launch of its own that is gone. */
const asItsOwn = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, { ...e, holder: { issued: true, found: absent }, others: seen([]) });

/** The records are put back as they were before the second deployment, which serves. */
export const putBack: Scenario = {
  ...twoDeploys('good', GATED),
  restored: { takenAtMs: 150, atMs: 700 },
};

/** Takes nobody to run of whom its records know nothing. */
const asFarAsItKnows = (tx: TransactionRecord, e: DeployEvidence): Decision => decide(tx, { ...e, others: seen([]) });

/** Leaves the row with a candidate that is gone. */
const leavingTheRow = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, tx.state.phase === 'aborting' ? { ...e, rows: unknown('nobody asks') } : e);

/** The records are put back as they were before the first handover, which has moved the row. */
const putBackWarming: Scenario = { ...twoDeploys('good'), restored: { takenAtMs: 60, atMs: 85 } };

/** The records are put back as they were before a handover that has launched its candidate, and not moved the row. */
export const putBackWithin = (more: Partial<TargetShape> = {}): Scenario => ({
  ...twoDeploys('good', { ...ALONE, ...more }),
  restored: { takenAtMs: 190, atMs: 250 },
});

const [earlier, later] = twoDeploys('good', { stores: 2, routed: true }).deploys;
if (earlier === undefined || later === undefined) throw new Error('there are two deployments');

/** The records are put back as they were before a program was admitted whose row lies in another place. */
export const putBackElsewhere: Scenario = {
  ...twoDeploys('good', { stores: 2, routed: true }),
  deploys: [earlier, { ...later, atMs: 500, otherKind: true }, { ...earlier, atMs: 1_500 }],
  restored: { takenAtMs: 60, atMs: 1_000 },
};

/** Broken variants that records meet which are older than the world. */
export const TEETH_OF_RESTORED: readonly Tooth[] = [
  { name: 'takes the lease of whom it does not know', breaks: 'I1', scenario: putBack, decide: asItsOwn },
  { name: 'grants beside whom it does not know', breaks: 'I1', scenario: putBackElsewhere, decide: asFarAsItKnows },
  { name: 'leaves the lease with who is gone', breaks: 'I10', scenario: putBackWarming, decide: leavingTheRow },
  {
    name: 'starts it beside whom it does not know',
    breaks: 'apart',
    scenario: putBackWithin(),
    decide: asFarAsItKnows,
  },
];
