import {
  type ContinuityDecision,
  type ContinuityEvidence,
  type Decision,
  type DeployEvidence,
  decide,
  decideContinuity,
  type TransactionRecord,
} from '@idunn/authority';
import { absent, type Evidence } from '@idunn/kernel';
import { CALM, type Scenario } from '../scenario.ts';
import type { Behaviour } from '../world/behaviour.ts';
import { mapSlots, type Tooth } from './tooth.ts';

/** What could not be read is taken for what is not there; what nobody looked at stays as it is. */
const orAbsent = <T>(evidence: Evidence<T>): Evidence<T> =>
  evidence.kind === 'unknown' && evidence.because !== 'not read' ? absent : evidence;

/** I10: brings back what it cannot see. */
const withoutSight = (e: ContinuityEvidence): ContinuityDecision =>
  decideContinuity({ ...e, process: orAbsent(e.process) });

/** I10: takes a lease row that it cannot read for none. */
const withoutRow = (tx: TransactionRecord, e: DeployEvidence): Decision => decide(tx, { ...e, rows: orAbsent(e.rows) });

/** I10: takes a route that it cannot read for one that names nobody. */
const withoutRoute = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, { ...e, route: orAbsent(e.route) });

/** I10: takes a program that it has not heard of in time for one that has ended. */
function withoutWord(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state, clock } = tx;
  const waitedMs = e.now.monotonicMs - clock.startedAt.monotonicMs;
  if (state.phase !== 'activation-observed' || waitedMs < SILENT_MS) return decide(tx, e);
  return decide(
    tx,
    mapSlots(e, (slot) => (slot.presence.kind === 'seen' ? slot : { ...slot, process: absent })),
  );
}
const SILENT_MS = 1_000;

const first = (behaviour: Behaviour): Scenario => ({
  ...CALM,
  seed: 1,
  shapes: { app: { stores: 1, routed: true } },
  deploys: [{ target: 'app', atMs: 10, behaviour, revision: 1 }],
});

/** The process cannot be looked at just when the link to the observer has come back. */
const hidden: Scenario = {
  ...first('good'),
  observerDown: [{ fromMs: 1_000, untilMs: 1_200 }],
  unreadable: [{ what: 'process', target: 'app', fromMs: 900, untilMs: 4_000 }],
};
const hiddenRow: Scenario = {
  ...first('never-active'),
  unreadable: [{ what: 'lease', target: 'app', fromMs: 600, untilMs: 8_000 }],
};
const hiddenRoute: Scenario = {
  ...first('redirects-for-ever'),
  unreadable: [{ what: 'route', target: 'app', fromMs: 600, untilMs: 8_000 }],
};

/** What was not seen is taken for something that was. */
export const TEETH_OF_ABSENCE: readonly Tooth[] = [
  { name: 'takes the unseen for dead', breaks: 'I10', scenario: hidden, decideContinuity: withoutSight },
  { name: 'takes an unreadable row for none', breaks: 'I10', scenario: hiddenRow, decide: withoutRow },
  { name: 'takes an unreadable route for none', breaks: 'I10', scenario: hiddenRoute, decide: withoutRoute },
  { name: 'takes silence for an exit', breaks: 'I10', scenario: first('never-warms'), decide: withoutWord },
];
