import {
  type ContinuityDecision,
  type ContinuityEvidence,
  decide,
  decideContinuity,
  type EnginePorts,
} from '@idunn/authority';
import { refusal, refused } from '@idunn/kernel';
import { diesOnce, type Scenario, twoDeploys } from '../scenario.ts';
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

/** I9: keeps to itself that it has restarted something again and again. */
function withoutPage(e: ContinuityEvidence): ContinuityDecision {
  const decision = decideContinuity(e);
  if (decision.kind !== 'rest') return decision;
  return { ...decision, concerns: decision.concerns.filter(({ code }) => code !== 'restarted-too-often') };
}

/** I9: closes its incidents while their cause stands. */
function withoutConcern(e: ContinuityEvidence): ContinuityDecision {
  const decision = decideContinuity(e);
  return decision.kind === 'rest' ? { ...decision, concerns: [] } : decision;
}

/** I9: measures its waits by the clock on the wall (F29). */
function withWallClock(e: ContinuityEvidence): ContinuityDecision {
  const aheadMs = e.now.wallMs - EPOCH_MS - e.now.monotonicMs;
  const decision = decideContinuity({ ...e, now: { ...e.now, monotonicMs: e.now.monotonicMs + aheadMs } });
  if (decision.kind !== 'rest' || decision.wakeAtMs === null) return decision;
  return { ...decision, wakeAtMs: decision.wakeAtMs - aheadMs };
}
/** What the wall shows as virtual time begins. */
const EPOCH_MS = 1_800_000_000_000;

const flappingOn: Scenario = {
  ...flapping,
  kills: [...flapping.kills, { target: 'app', atMs: 100_000 }, { target: 'app', atMs: 200_000 }],
};
const setBack: Scenario = { ...flapping, wallSteps: [{ atMs: 13_000, byMs: -3_600_000 }] };

/** I9: does not launch again what is stuck past its fence. */
const withoutRelaunch: typeof decide = (tx, e) => {
  const decision = decide(tx, e);
  const isStuck = 'stuck' in tx.state && tx.state.stuck !== null;
  const launches = isStuck && decision.kind === 'persist' && relaunchesIn(decision) > relaunchesIn(tx);
  return launches ? { kind: 'wait', what: 'nothing', remedy: 'nothing', untilMs: null, wakeAtMs: null } : decision;
};
const relaunchesIn = ({ state }: Pick<Parameters<typeof decide>[0], 'state'>): number =>
  'passage' in state ? (state.passage?.relaunches ?? 0) : 0;

/** Nothing of the second build lives, and the first does not accept what it may have written. */
const stuck: Scenario = {
  ...twoDeploys('exits-after-grant'),
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
    { target: 'app', atMs: 200, behaviour: 'exits-after-grant', revision: 2, newSchema: true },
  ],
};

/** The second build ends as it is granted, and no later launch of it says a word. */
export const mute = ({ newSchema }: { readonly newSchema: boolean }): Scenario => ({
  ...twoDeploys('good'),
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
    { target: 'app', atMs: 200, behaviour: 'hangs-when-relaunched', revision: 2, newSchema },
  ],
  strikes: [{ kind: 'deploy', phase: 'write-lease-granted', fault: 'holder-killed' }],
});

/** I9: waits without an end for the first word of a launch past the fence. */
const withPatience: typeof decide = (tx, e) => {
  if (!('passage' in tx.state) || tx.state.passage === null) return decide(tx, e);
  const passage = { ...tx.state.passage };
  delete passage.launchedAt;
  return decide({ ...tx, state: { ...tx.state, passage } }, e);
};

/** I9: leaves alone whatever lives. */
function content(e: ContinuityEvidence): ContinuityDecision {
  const decision = decideContinuity(e);
  if (decision.kind !== 'look' || decision.at !== 'route') return decision;
  return { kind: 'rest', concerns: [], wait: null, wakeAtMs: null, attemptAtMs: null };
}

/** The second build is ready while the restart of the first is about to be routed, which gives way; it never serves. */
export const gaveWay = (atMs: number): Scenario => {
  const once = diesOnce('good', { stores: 0, routed: true });
  return { ...once, deploys: [...once.deploys, { target: 'app', atMs, behaviour: 'never-active', revision: 2 }] };
};

/** The proxy publishes nothing from 1 s on for a while: no route of a restart can be proven. */
export const publishesNothing = (ports: EnginePorts): EnginePorts => ({
  ...ports,
  route: {
    ...ports.route,
    publish: async (...asked) => {
      const nowMs = ports.clock.monotonicMs() - 1_000;
      const isAway = nowMs > 900 && nowMs < 1_150;
      return isAway ? refused(refusal('driver-fault', 'the proxy is busy')) : ports.route.publish(...asked);
    },
  },
});

/** What is admitted is brought back for ever. */
export const TEETH_OF_CONTINUITY: readonly Tooth[] = [
  { name: 'gives a target up', breaks: 'I9', scenario: flapping, decideContinuity: withAnEnd },
  {
    name: 'leaves who is stranded where it is',
    breaks: 'I9',
    scenario: gaveWay(1_000),
    decideContinuity: content,
    ports: publishesNothing,
  },
  { name: 'never brings back', breaks: 'I9', scenario: held, decideContinuity: withNoRestart },
  { name: 'waits for a first word for ever', breaks: 'I9', scenario: mute({ newSchema: true }), decide: withPatience },
  { name: 'gives up what is stuck', breaks: 'I9', scenario: stuck, decide: withoutRelaunch },
  { name: 'tells nobody of many restarts', breaks: 'I9', scenario: flappingOn, decideContinuity: withoutPage },
  { name: 'tells nobody of what is down', breaks: 'I9', scenario: flapping, decideContinuity: withoutConcern },
  { name: 'waits by the clock on the wall', breaks: 'I9', scenario: setBack, decideContinuity: withWallClock },
];
