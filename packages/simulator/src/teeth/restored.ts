import { type Decision, type DeployEvidence, decide, type TransactionRecord } from '@idunn/authority';
import { absent, seen } from '@idunn/kernel';
import { ALONE, GATED, type Scenario, twoDeploys } from '../scenario.ts';
import type { TargetShape } from '../world/sources.ts';
import type { Tooth } from './tooth.ts';

/** Takes whoever holds the lease for a launch of its own that is gone. */
const asItsOwn = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, { ...e, holder: { issued: true, found: absent } });

/** The records are put back as they were before the second deployment, which serves. */
export const putBack: Scenario = {
  ...twoDeploys('good', GATED),
  restored: { takenAtMs: 150, atMs: 700 },
};

/** Takes nobody to run of whom its records know nothing. */
const asFarAsItKnows = (tx: TransactionRecord, e: DeployEvidence): Decision => decide(tx, { ...e, others: seen([]) });

/** The records are put back as they were before a handover that has launched its candidate, and not moved the row. */
export const putBackWithin = (more: Partial<TargetShape> = {}): Scenario => ({
  ...twoDeploys('good', { ...ALONE, ...more }),
  restored: { takenAtMs: 190, atMs: 250 },
});

/** Broken variants that records meet which are older than the world. */
export const TEETH_OF_RESTORED: readonly Tooth[] = [
  { name: 'takes the lease of whom it does not know', breaks: 'I1', scenario: putBack, decide: asItsOwn },
  {
    name: 'starts it beside whom it does not know',
    breaks: 'apart',
    scenario: putBackWithin(),
    decide: asFarAsItKnows,
  },
];
