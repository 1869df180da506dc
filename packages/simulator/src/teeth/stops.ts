import {
  type ContinuityDecision,
  type ContinuityEvidence,
  type Decision,
  type DeployEvidence,
  decide,
  decideContinuity,
  type Phase,
  type TransactionRecord,
} from '@idunn/authority';
import { ALONE, type Scenario, twoDeploys } from '../scenario.ts';
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

/** I8: reads the freeze once, and not again before the step that cannot be taken back. */
const withoutSecondReading =
  (last: Phase): typeof decide =>
  (tx, e) =>
    tx.state.phase === last ? withoutFreeze(tx, e) : decide(tx, e);

/** I8: takes a freeze that cannot be read for one that is not there. */
const withoutUnreadable = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  e.freeze.kind === 'unknown' ? withoutFreeze(tx, e) : decide(tx, e);

/** I8: lets the clock of a phase run on under a freeze. */
function withRunningClock(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state, clock } = tx;
  if (state.phase !== 'warming' || clock.frozenSince === null) return decide(tx, e);
  const late =
    e.now.monotonicMs - clock.startedAt.monotonicMs > (e.plans[state.subject.plan]?.deadlines.warmingMs ?? 0);
  return decide(late ? { ...tx, clock: { ...clock, frozenSince: null } } : tx, e);
}

/** A freeze begins in the middle of a deployment, and the observer is away for the first moment of it. */
const frozenIn = (phase: Phase, calm: Scenario): Scenario => ({
  ...calm,
  strikes: [
    { kind: 'deploy', phase, fault: 'frozen', lastsMs: 4_000 },
    { kind: 'deploy', phase, fault: 'observer-gone', lastsMs: 700 },
  ],
});
const frozenLate = frozenIn('activation-observed', twoDeploys('good'));

/** Freezes and holds. */
export const TEETH_OF_STOPS: readonly Tooth[] = [
  { name: 'overlooks a freeze', breaks: 'I8', scenario: frozen, decide: withoutFreeze },
  { name: 'reads the freeze only once', breaks: 'I8', scenario: frozenLate, decide: withoutSecondReading('warming') },
  {
    name: 'reads it only once before it stops what serves',
    breaks: 'I8',
    scenario: frozenIn('activation-issued', twoDeploys('good', ALONE)),
    decide: withoutSecondReading('activation-issued'),
  },
  {
    name: 'takes an unreadable freeze for none',
    breaks: 'I8',
    scenario: { ...frozen, freezes: frozen.freezes.map((one) => ({ ...one, unreadable: true })) },
    decide: withoutUnreadable,
  },
  { name: 'lets the clock run under a freeze', breaks: 'I8', scenario: frozenLate, decide: withRunningClock },
  { name: 'overlooks a hold', breaks: 'I8', scenario: held, decideContinuity: withoutHold },
];
