import type { Refusal } from '@idunn/kernel';
import type { LeaseRows } from '../ports/lease-port.ts';
import { bodyOf } from '../records/body.ts';
import type { Standing } from '../records/passage.ts';
import type { StateOf, TransactionRecord } from '../records/transaction.ts';
import { clearAway, endProcess, spend, takeBack } from './clearing.ts';
import { deadlineMs, isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { attempt, conclude, type Decision, insist, persist, repeat, wait } from './decision.ts';
import type { EffectOf } from './effects.ts';
import { type DeployEvidence, planOf } from './evidence.ts';
import { because } from './failing.ts';
import { issueRecord } from './launch.ts';
import { setAsideBy } from './lease-at-hand.ts';
import { passageEndsFirst, standsAlone } from './manner.ts';
import { agree, decidePassage, mayBeTorn, planFor, whereabouts } from './passage.ts';
import { isSuperseded, supersede } from './supersede.ts';

type Returning = StateOf<'returning'>;

/** After the fence and not to be finished: the incumbent gets lease and route back through the same fence. */
export function decideReturning(tx: TransactionRecord, e: DeployEvidence, state: Returning): Decision {
  if (state.settled) return leave(tx, e, state);
  const { passage } = state;
  if (passage === null) return untilTold(tx, e, state, returnToNobody(e, state));
  const { subject } = passage.successor;
  const plan = planFor(e, passage);
  const where = whereabouts(e, passage);
  if (isSuperseded(e, state.stuck) && !mayBeTorn(e, where, plan)) {
    const { stuck, candidate } = state;
    const graceMs = plan.deadlines.stopMs;
    return clearAway(e, candidate, () => supersede(e, state, passage, where, stuck, graceMs));
  }
  const alone = standsAlone(planOf(e, state.candidate.subject.plan));
  if (!state.gone && passage.predecessors.length === 0 && (alone || passageEndsFirst(e, passage))) {
    // No process of it was recorded; whatever came of its launch ends before the incumbent is launched or granted, and
    // a start of it that is still on its way finds it spent (I1).
    const { launch } = state.candidate;
    return spend(e, { launch, graceMs: plan.deadlines.stopMs, proven: true }, () => persist({ ...state, gone: true }));
  }
  return decidePassage({
    tx,
    e,
    passage,
    plan,
    persistent: true,
    // What held the lease before is brought back for ever; past the deadline the person is told.
    untilMs: state.stuck === null ? deadlineMs(tx, 'route-observed', plan) : null,
    keep: (next, more = {}) =>
      persist(
        { ...state, passage: next },
        {
          ...(more.highestEpoch === undefined ? {} : { target: { highestEpoch: more.highestEpoch } }),
          ...(more.issued === undefined
            ? {}
            : { extra: [{ kind: 'activation', id: more.issued, value: issueRecord(tx, e, subject, more.issued) }] }),
        },
      ),
    giveUp: (why) =>
      state.stuck?.code === why.code
        ? wait(`the incumbent to come back: ${why.reason}`, why.remedy, { wakeAtMs: e.now.monotonicMs + 1_000 })
        : persist(
            { ...state, stuck: why },
            {
              result: {
                outcome: 'operator-required',
                refusal: why,
                incarnation: subject.incarnation,
                revision: subject.revision,
              },
            },
          ),
    arrived: () => persist(state),
    confirmed: (epoch) => settle(tx, e, state, epoch),
  });
}

/** The incumbent is again what lease and route name: admitted as before, under its new epoch and launch. */
function settle(tx: TransactionRecord, e: DeployEvidence, state: Returning, epoch: number | null): Decision {
  const successor = state.passage?.successor;
  if (successor?.launch.step !== 'current') throw new Error('only a current launch is returned to');
  const body = bodyOf(
    successor.subject,
    successor.launch,
    epoch,
    state.passage?.echoed.includes(successor.launch.id) === true,
  );
  const { admitted, stranded } = e.target;
  const target =
    stranded !== null
      ? { stranded: body, takenBy: null }
      : {
          admitted: {
            ...body,
            transaction: admitted?.transaction ?? tx.id,
            admittedAt: admitted?.admittedAt ?? e.now,
            runningSince: e.now,
          },
          takenBy: null,
        };
  return persist({ ...state, settled: true, stuck: null }, { target });
}

/** A way back that leads to nobody is late by the same deadline: a person is told once, and it is tried on. */
function untilTold(tx: TransactionRecord, e: DeployEvidence, state: Returning, decision: Decision): Decision {
  if (decision.kind !== 'wait' || state.stuck !== null) return decision;
  const untilMs = deadlineMs(tx, 'route-observed', planOf(e, state.candidate.subject.plan));
  if (!isPast(e, untilMs)) return { ...decision, untilMs };
  const { what, remedy } = decision;
  return toldStuck(state, { ...because('phase-deadline', `The way back still waits on ${what}.`), remedy });
}

const toldStuck = (state: Returning, why: Refusal): Decision =>
  persist(
    { ...state, stuck: why },
    { result: { outcome: 'operator-required', refusal: why, incarnation: null, revision: null } },
  );

/** A first deployment has nobody to return to: its process goes, and the row ends naming nobody. */
function returnToNobody(e: DeployEvidence, state: Returning): Decision {
  const { subject, launch } = state.candidate;
  const plan = planOf(e, subject.plan);
  return endProcess(e, { launch, graceMs: plan.deadlines.stopMs, proven: plan.state !== null && !state.gone }, () => {
    if (plan.state === null) return unroute(e, state);
    if (e.rows.kind === 'unknown') {
      const wakeAtMs = e.now.monotonicMs + 200;
      const why = because('lease-row-unreadable', `${plan.state.root}: ${e.rows.because}`);
      return wait(`the lease row in ${why.reason}`, why.remedy, { wakeAtMs, incident: 'lease-row-unreadable' });
    }
    // Its processes are gone: rows that it took away with it, claim and all, name nobody.
    const holder = e.rows.kind === 'absent' ? null : holderOf(e.rows.value);
    if (holder === null) return unroute(e, state);
    if (!isOurs(e, state, holder)) return heldByAnother(e, state, holder);
    // Who is named is gone, and the next one moves the row on from there; half a move it would not (I1).
    if (isSuperseded(e, state.stuck) && agree(e.rows)) return unroute(e, state);
    const effect: EffectOf<'swap'> = {
      kind: 'swap',
      plan: subject.plan,
      move: { from: holder, to: { epoch: holder.epoch + 1, activation: null } },
      release: null,
      stateSchema: plan.state.schema,
      deadlineMs: plan.deadlines.relinquishMs,
    };
    const what = 'the lease row to name nobody';
    const moving = { what, remedy: 'idunn doctor', untilMs: null };
    return insist(e, effect, moving, (answer) => {
      const held = answer.kind === 'busy' ? `${what}: somebody holds the database of store ${answer.store}` : what;
      return repeat(e, effect, { ...moving, what: held });
    });
  });
}

/** The one that some row still names. */
function holderOf(rows: LeaseRows): Holder | null {
  const named = Object.values(rows).flatMap(({ epoch, activation }) =>
    activation === null ? [] : [{ epoch, activation }],
  );
  return named[0] ?? null;
}

type Holder = Standing & { readonly activation: string };

/** There is nothing to give back: a person is told, once, and whoever is queued behind goes on. */
function heldByAnother(e: DeployEvidence, state: Returning, { activation }: Holder): Decision {
  const what = `the lease row, which names ${activation}, whom this deployment never launched`;
  const remedy = setAsideBy(e.target.target, activation);
  const why = { ...because('lease-row-unexpected', `Nothing is given back: the row names ${activation}.`), remedy };
  if (state.stuck === null) return toldStuck(state, why);
  if (isSuperseded(e, state.stuck)) return unroute(e, state);
  return wait(what, remedy, { wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS, incident: 'lease-row-unexpected' });
}

/**
 * It was granted to the candidate, or to a launch of ours that is seen gone. From anybody else the lease is not taken:
 * our records may be older than what lives (I1, I10).
 */
const isOurs = (e: DeployEvidence, { candidate }: Returning, { activation }: Holder): boolean =>
  activation === candidate.launch.id ||
  candidate.spent.includes(activation) ||
  (e.holder.issued && e.holder.found.kind === 'absent');

/**
 * What was on its way to the proxy when the way back began may land after any reading: an empty stage takes the place
 * of its stage first, and what is read then is published over if it names us (I3).
 */
function unroute(e: DeployEvidence, state: Returning): Decision {
  const settled = persist({ ...state, settled: true, stuck: null }, { target: { takenBy: null } });
  const plan = planOf(e, state.candidate.subject.plan);
  if (plan.route === null) return settled;
  const stage = { kind: 'stage-route', plan: state.candidate.subject.plan, members: [] } as const;
  const staging = { what: 'the proxy to validate an empty route', remedy: 'idunn doctor', untilMs: null };
  return insist(e, stage, staging, (staged) => {
    // A route that cannot be read may still name a process that is gone (I10).
    if (e.route.kind === 'unknown') {
      return wait(`the route: ${e.route.because}`, 'idunn doctor', { wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS });
    }
    const mine = new Set([state.candidate.launch.id, ...state.candidate.spent]);
    const routed = e.route.kind === 'seen' && e.route.value.members.some(({ activation }) => mine.has(activation));
    if (!routed) return settled;
    // A stage that is gone, or that was said to be served while the route, read since, still names us, is made anew.
    const what = 'the proxy to publish an empty route';
    const anew = (): Decision => repeat(e, stage, { ...staging, what });
    return attempt(e, { kind: 'publish-route', staged }, { what, untilMs: null, failed: anew }, anew);
  });
}

/** The candidate is stopped and its records withdrawn; only then is the transaction over (F15, F16). */
function leave(tx: TransactionRecord, e: DeployEvidence, state: Returning): Decision {
  const { subject, launch } = state.candidate;
  const incumbent = e.target.stranded ?? e.target.admitted;
  if (!state.gone) return clearAway(e, { subject, launch }, () => persist({ ...state, gone: true }));
  return takeBack(e, { subject, launch, stays: incumbent }, () =>
    conclude(tx.state, 'rolled-back', {
      incarnation: incumbent?.incarnation ?? null,
      revision: incumbent?.revision ?? null,
      refusal: state.why,
    }),
  );
}
