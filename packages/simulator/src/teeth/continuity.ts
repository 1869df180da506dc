import { type ContinuityDecision, type ContinuityEvidence, decideContinuity } from '@idunn/authority';
import { type Scenario, twoDeploys } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** I9: has enough after the third attempt. */
function withAnEnd(e: ContinuityEvidence): ContinuityDecision {
  const decision = decideContinuity(e);
  const begins = decision.kind === 'persist' && decision.begin !== null;
  if (!begins || decision.record.streak <= 3) return decision;
  return { kind: 'rest', concerns: [], wait: null, wakeAtMs: null, attemptAtMs: null };
}

/** I9: never brings anything back. */
const withNoRestart = (e: ContinuityEvidence): ContinuityDecision =>
  e.process.kind === 'absent'
    ? { kind: 'rest', concerns: [], wait: null, wakeAtMs: null, attemptAtMs: null }
    : decideContinuity(e);

export const held: Scenario = {
  ...twoDeploys('good'),
  deploys: [{ target: 'app', atMs: 10, behaviour: 'good', revision: 1 }],
  kills: [{ target: 'app', atMs: 2_000 }],
  holds: [{ target: 'app', fromMs: 1_000, untilMs: 4_000, unreadable: false }],
};
const flapping: Scenario = {
  ...held,
  holds: [],
  kills: [2_000, 4_000, 12_000, 24_000, 50_000].map((atMs) => ({ target: 'app', atMs })),
};

/** What is admitted is brought back for ever. */
export const TEETH_OF_CONTINUITY: readonly Tooth[] = [
  { name: 'gives a target up', breaks: 'I9', scenario: flapping, decideContinuity: withAnEnd },
  { name: 'never brings back', breaks: 'I9', scenario: held, decideContinuity: withNoRestart },
];
