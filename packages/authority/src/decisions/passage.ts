import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { Phase } from '../model/phase.ts';
import { phaseRow } from '../model/phase-table.ts';
import { type Body, bodyOf } from '../records/body.ts';
import type { Passage, Standing } from '../records/passage.ts';
import { endProcess } from './clearing.ts';
import { firstWordUntilMs, isPast, LOOK_AGAIN_MS } from './deadline.ts';
import { type Decision, tolerate, wait } from './decision.ts';
import { echoOf } from './echo.ts';
import { type DeployEvidence, planOf, slotOf } from './evidence.ts';
import { because } from './failing.ts';
import { decideFence, stopPredecessors } from './fence.ts';
import { decideGranted } from './granted.ts';
import { decideLaunch, exited } from './launch.ts';
import { heldApart, keptApart, runsBeside } from './lease-at-hand.ts';
import { passageEndsFirst, passageStandsAlone, speaksLease, standsAlone } from './manner.ts';
import type { PassageFrame, Whereabouts } from './passage-frame.ts';
import { observerAway } from './receipt.ts';
import { keepHolding } from './route-hold.ts';
import { readRows, sameStanding } from './rows.ts';

/** Once an intent exists, the lease row says where the transaction stands, never the recorded phase (I6). */
export function whereabouts(e: DeployEvidence, passage: Passage): Whereabouts {
  const { launch } = passage.successor;
  const { move } = passage;
  if (move === null)
    return launch.step === 'current' ? { at: 'granted', epoch: null } : { at: 'relaunched', row: null };
  if (e.rows.kind !== 'seen') {
    return { at: 'unreadable', detail: e.rows.kind === 'unknown' ? e.rows.because : 'the stores carry no row' };
  }
  const reading = readRows(e.rows.value, move);
  if (reading.kind === 'differing') return { at: 'unreadable', detail: reading.detail };
  if (reading.kind === 'moving') return { at: 'moving' };
  const row = reading.standing;
  const isTo = row.epoch === move.to.epoch && row.activation === move.to.activation;
  const isFrom = row.epoch === move.from.epoch && row.activation === move.from.activation;
  if (!isTo && !isFrom) {
    return { at: 'unreadable', detail: `the row names ${row.activation ?? 'nobody'} at epoch ${row.epoch}` };
  }
  if (move.to.activation !== launch.id) return { at: 'relaunched', row };
  return isTo ? { at: 'granted', epoch: row.epoch } : { at: 'before-move', row };
}

/** The launch of the successor that the row names, or named last; `null` while it never named one. */
export function holderIn(e: DeployEvidence, passage: Passage): Body | null {
  const { subject, launch } = passage.successor;
  const where = whereabouts(e, passage);
  if (where.at !== 'granted' || launch.step !== 'current') return passage.held ?? null;
  return bodyOf(subject, launch, where.epoch, passage.echoed.includes(launch.id));
}

/** The row was moved since the intent, or may have been: what cannot be read may name anybody (I10). */
export const mayHaveMoved = (where: Whereabouts, origin: Standing | null): boolean =>
  origin !== null && !('row' in where && where.row !== null && sameStanding(where.row, origin));

/** Nothing has moved yet: the row still reads as at the intent, or without state the route has not switched. */
function isFenced(f: PassageFrame, where: Whereabouts): boolean {
  const { direction, origin } = f.passage;
  if (origin !== null) return mayHaveMoved(where, origin);
  return direction === 'forward' && f.e.route.kind !== 'absent' && routeSwitched(f);
}

/** It may have been: only one that is seen to lead to whom it led before has not (I10). */
function routeSwitched({ e, plan, passage }: PassageFrame): boolean {
  if (plan.route === null) return false;
  if (e.route.kind !== 'seen') return true;
  const before = new Set(passage.predecessors.map(({ document }) => document.activation));
  return e.route.value.members.some(({ activation }) => !before.has(activation));
}

/** The predecessor that could go on if the handover is given up: alive, or not seen to be gone. */
const predecessorMayLive = ({ e, passage }: PassageFrame): boolean => {
  const first = passage.predecessors[0];
  return first === undefined || slotOf(e, first.document.activation).process.kind !== 'absent';
};

/** One that may have been asked to end cannot be told to go on: the way back is the return (I6). */
const mayHaveBeenEnded = ({ e, passage }: PassageFrame): boolean =>
  passage.predecessors.length > 0 && passageEndsFirst(e, passage);

const mayStepBack = (f: PassageFrame, where: Whereabouts): boolean =>
  f.passage.direction === 'forward' && !isFenced(f, where) && predecessorMayLive(f) && !mayHaveBeenEnded(f);

/** A handover in either direction, step by step. The lease row is read first. */
export function decidePassage(f: PassageFrame): Decision {
  const where = whereabouts(f.e, f.passage);
  const reached = furthest(where);
  return keepHolding(f, { reached, ...step(f, where) });
}

const furthest = (where: Whereabouts): Phase => (where.at === 'granted' ? 'write-lease-granted' : 'incumbent-fenced');

function step(f: PassageFrame, where: Whereabouts): Decision {
  const { e, passage } = f;
  const { launch } = passage.successor;
  if (where.at === 'unreadable') {
    const left = leftBehind(f);
    if (left?.gone === true && passage.move !== null) {
      return f.keep({ ...passage, move: { ...passage.move, from: left.standing } });
    }
    const code = e.rows.kind === 'seen' ? 'lease-row-unexpected' : 'lease-row-unreadable';
    const root = f.plan.state?.root ?? 'the state root';
    const how = left === null ? '' : ', which goes on once its process was ended and is seen gone';
    const why = because(code, `${root}: ${where.detail}${how}.`);
    if (isPast(e, f.untilMs)) return f.giveUp(why, true);
    return wait(`the lease row in ${why.reason}`, why.remedy, {
      untilMs: f.untilMs,
      wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
      incident: code,
    });
  }
  const ended = (why: Refusal): Decision => died(f, where, why);
  const late = isPast(e, f.untilMs);
  if (late && where.at === 'moving' && !f.persistent) return endMove(f, ended);
  if (late) return f.giveUp(lateness(f, where), !mayStepBack(f, where));
  if (where.at === 'moving') return decideFence(f, ended);
  if (where.at === 'relaunched') return relaunching(f, where.row);
  const { process } = slotOf(e, launch.id);
  if (process.kind === 'absent') return ended(exited(launch.id));
  return where.at === 'before-move' ? decideFence(f, ended) : decideGranted(f, where.epoch, ended);
}

/** A move that is half made is made whole before it is given up: the way back begins at rows that agree (I6, I9). */
function endMove(f: PassageFrame, ended: (why: Refusal) => Decision): Decision {
  const ending = decideFence({ ...f, untilMs: null }, ended);
  return ending.kind === 'wait' ? { ...ending, incident: 'fence-not-proven' } : ending;
}

/** A move between several stores that has begun, or may have: rows that agree are no half of one (I6). */
export const mayBeTorn = (e: DeployEvidence, where: Whereabouts, { state }: Plan): boolean =>
  where.at === 'moving' ||
  (where.at === 'unreadable' && state?.lease === 'rows' && state.stores.length > 1 && !agree(e.rows));

/** Every store tells of the same holder. */
export const agree = (rows: DeployEvidence['rows']): boolean =>
  rows.kind === 'seen' && readRows(rows.value, null).kind === 'uniform';

/**
 * The row that the way back meets in the incumbent's own place: the last that it was granted to was a later launch of
 * ours, or the state came back from a copy and names an earlier one. It is moved on from once that is seen gone, for
 * what still runs may hold files that are not these any more. Any other row stays held (I1, I10).
 */
function leftBehind(f: PassageFrame): { readonly standing: Standing; readonly gone: boolean } | null {
  const { e, passage } = f;
  const { direction, move } = passage;
  if (direction !== 'back' || move === null || e.rows.kind !== 'seen') return null;
  const reading = readRows(e.rows.value, move);
  if (reading.kind !== 'uniform' || reading.standing.epoch >= move.to.epoch) return null;
  const { standing } = reading;
  if (standing.activation === null || !e.holder.issued) return null;
  const gone = slotOf(e, standing.activation).process.kind === 'absent' || e.holder.found.kind === 'absent';
  return { standing, gone };
}

const neverLasting = ({ relaunches, successor }: Passage): Refusal => ({
  ...because(
    'phase-deadline',
    `${successor.subject.incarnation} was launched ${relaunches + 1} times and never lasted.`,
  ),
  remedy: 'idunn logs shows why; it is launched again and again, and idunn up replaces it.',
});

/** Which refusal a passed deadline is, by how far the handover came. */
function lateness(f: PassageFrame, where: Whereabouts): Refusal {
  const { relaunches, spent } = f.passage;
  const apart = besideNobody(f) === null ? null : keptApart(f.e);
  if (apart !== null) return apart;
  if (relaunches > 0 && where.at !== 'granted') {
    // On the way back a launch is ended for whatever is wrong with it: it need not have exited (I10).
    if (f.persistent) return neverLasting(f.passage);
    return because('candidate-exited', `It ended ${relaunches} times after its grant, last ${spent.at(-1) ?? 'once'}.`);
  }
  const away = f.passage.direction === 'forward' ? observerAway(f.e, f.passage.successor.launch.id) : null;
  const moved = where.at === 'granted' || where.at === 'relaunched';
  if (away !== null && moved && f.e.marks.reached['route-published'] === undefined) return away;
  const { word } = slotOf(f.e, f.passage.successor.launch.id);
  const speaks = word.kind === 'seen' && word.value.present !== null;
  if (passageStandsAlone(f.e, f.passage) && f.passage.successor.launch.step === 'current' && !speaks) {
    return because('candidate-never-warming', 'It was launched in the place of the other, and never spoke.');
  }
  if (where.at !== 'granted') return because('fence-not-proven', 'The incumbent was not fenced by the deadline.');
  const { reached } = f.e.marks;
  if (reached['ready-observed'] === undefined) {
    if (f.plan.state !== null) {
      return because('candidate-never-active', `It held epoch ${where.epoch ?? 'none'} and was never active under it.`);
    }
    if (word.kind === 'seen' && word.value.present?.state === 'warming') {
      return because('candidate-never-active', 'It keeps no state, was let in, and never said that it is active.');
    }
  }
  if (reached['route-published'] === undefined) {
    return because('candidate-never-ready', 'No Ready receipt for this activation and epoch arrived.');
  }
  const order = phaseRow('route-observed').order;
  return because('route-not-observed', `The route was not observed by the deadline of phase ${order}.`);
}

/**
 * How often a candidate may end after its predecessor was ended for it: there is nobody who serves meanwhile, one exit
 * may be bad luck, and the second is its way.
 */
const EXITS_BEFORE_RETURN = 2;

/** Dead or lying between intent and admission: back if nothing moved, else launched anew until the deadline (I6). */
function died(f: PassageFrame, where: Whereabouts, why: Refusal): Decision {
  if (mayStepBack(f, where)) return f.giveUp(why, false);
  if (f.ended !== undefined) return f.ended(why);
  if (why.code !== 'candidate-exited' && !f.persistent) return f.giveUp(why, true);
  const { launch } = f.passage.successor;
  const endsFirst = passageEndsFirst(f.e, f.passage);
  if (endsFirst && !f.persistent && f.passage.relaunches + 1 >= EXITS_BEFORE_RETURN) return f.giveUp(why, true);
  return endProcess(f.e, { launch, graceMs: f.plan.deadlines.stopMs, proven: endsFirst }, () =>
    tolerate(f.e, { kind: 'retire', activation: launch.id }, { what: 'the spent activation to go', attempts: 1 }, () =>
      relaunch(f),
    ),
  );
}

/** Waits between relaunches: none before the first, then doubling to a cap. */
const relaunchDelayMs = (relaunches: number): number =>
  relaunches === 0 ? 0 : Math.min(100 * 2 ** Math.min(relaunches - 1, 10), 5_000);

function relaunch(f: PassageFrame): Decision {
  const { e, passage } = f;
  const { subject, launch } = passage.successor;
  const startedMs = e.answers[`start ${launch.id}`]?.atMs;
  const dueMs = startedMs === undefined ? null : startedMs + relaunchDelayMs(passage.relaunches);
  if (dueMs !== null && e.now.monotonicMs < dueMs) {
    return wait('the next launch of what holds the lease', 'idunn logs shows why the last one ended', {
      untilMs: f.untilMs,
      wakeAtMs: dueMs,
    });
  }
  const id = e.fresh.activation;
  const holder = holderIn(e, passage);
  const next: Passage = {
    ...passage,
    ...(holder === null ? {} : { held: holder }),
    successor: { subject, launch: { step: 'issued', id } },
    spent: [...passage.spent, launch.id].slice(-64),
    relaunches: passage.relaunches + 1,
  };
  return f.keep(next, { issued: id });
}

/** What cannot stand beside its predecessor is launched once that is gone; everything else at once. */
const relaunching = (f: PassageFrame, row: Standing | null): Decision =>
  passageStandsAlone(f.e, f.passage)
    ? stopPredecessors(f, () => besideNobody(f) ?? launching(f, row))
    : launching(f, row);

/** Records that are older than what lives know nothing of what a handover launched since: it is waited for (I10). */
function besideNobody({ e, plan, passage, untilMs }: PassageFrame): Decision | null {
  const { step } = passage.successor.launch;
  if (!standsAlone(plan) || (step !== 'issued' && step !== 'minted')) return null;
  const beside = runsBeside(e);
  if (beside === null) return null;
  const wakeAtMs = e.now.monotonicMs + LOOK_AGAIN_MS;
  const { remedy, incident } = heldApart(e);
  return wait(beside, remedy, { untilMs, wakeAtMs, incident });
}

function launching(f: PassageFrame, row: Standing | null): Decision {
  const { e, passage } = f;
  const { subject, launch } = passage.successor;
  return decideLaunch(e, subject, launch, {
    untilMs: f.untilMs,
    // Continuity's own restarts have a limit of the binding's.
    firstWordUntilMs: f.ended === undefined ? firstWordUntilMs(f.tx, passage, e, f.plan) : null,
    alone: passage.direction === 'back',
    // Nobody saw it exit: its start was cut off, or records newer than these launched it (I10).
    anew: () => relaunch(f),
    failed: (why) => died(f, { at: 'relaunched', row }, why),
    advance: (next) => {
      const since = next.step === 'current' ? { launchedAt: e.now } : {};
      return f.keep({ ...passage, ...since, successor: { subject, launch: next } });
    },
    warm: (running) => {
      const successor = { subject, launch: running };
      const foreignMs = ownStartMs(e, running.id);
      if (row === null) return f.keep({ ...passage, successor }, { foreignMs });
      const epoch = Math.max(row.epoch, e.target.highestEpoch) + 1;
      const move = { from: row, to: { epoch, activation: running.id } };
      const kept = { highestEpoch: epoch, foreignMs };
      if (!speaksLease(f.plan)) return f.keep({ ...passage, successor, move }, kept);
      return echoOf(e, subject.plan, running, passage.predecessors, f.untilMs, (heard) => {
        const echoed = heard ? [...passage.echoed, running.id].slice(-64) : passage.echoed;
        return f.keep({ ...passage, successor, move, echoed }, kept);
      });
    },
  });
}

/** From its start to its `warming` the program itself was starting. */
function ownStartMs(e: DeployEvidence, id: string): number {
  const startedMs = e.answers[`start ${id}`]?.atMs;
  return startedMs === undefined ? 0 : Math.max(0, e.now.monotonicMs - startedMs);
}

export const planFor = (e: DeployEvidence, passage: Passage): Plan => planOf(e, passage.successor.subject.plan);
