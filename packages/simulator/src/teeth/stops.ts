import {
  type ContinuityDecision,
  type ContinuityEvidence,
  type Decision,
  type DeployEvidence,
  decide,
  decideContinuity,
  type TransactionRecord,
} from '@idunn/authority';
import { type Scenario, twoDeploys } from '../scenario.ts';
import { held } from './continuity.ts';
import type { Tooth } from './tooth.ts';

/** I8: takes every freeze for absent. */
const withoutFreeze = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, e.freeze.kind === 'absent' ? e : { ...e, freeze: { kind: 'absent' } });

/** I8: restarts as if no hold stood. */
const withoutHold = (e: ContinuityEvidence): ContinuityDecision =>
  decideContinuity(e.hold.kind === 'seen' ? { ...e, hold: { kind: 'absent' } } : e);

const frozen: Scenario = {
  ...twoDeploys('good'),
  deploys: twoDeploys('good').deploys.map((deploy, index) => ({ ...deploy, atMs: 10 + index * 1_500 })),
  freezes: [{ target: 'app', fromMs: 150, untilMs: 4_000, unreadable: false }],
};

/** Freezes and holds. */
export const TEETH_OF_STOPS: readonly Tooth[] = [
  { name: 'overlooks a freeze', breaks: 'I8', scenario: frozen, decide: withoutFreeze },
  { name: 'overlooks a hold', breaks: 'I8', scenario: held, decideContinuity: withoutHold },
];
