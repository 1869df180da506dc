import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { Phase } from '../model/phase.ts';
import { phaseRow } from '../model/phase-table.ts';
import { type Body, bodyOf, launchOf, type Running, subjectOf } from '../records/body.ts';
import type { Passage, Standing } from '../records/passage.ts';
import type { ReadyProofRecord } from '../records/proof.ts';
import type { TargetRecord } from '../records/target.ts';
import type { DeployState, HANDOVER_PHASES, StateOf, TransactionRecord } from '../records/transaction.ts';
import { deadlineMs } from './deadline.ts';
import { type Decision, type Entered, type ExtraWrite, enter, persist, wait } from './decision.ts';
import type { Confirmation } from './effects.ts';
import { type DeployEvidence, planOf } from './evidence.ts';
import { aborting, withLastWords } from './failing.ts';
import { isRestart } from './freeze.ts';
import { issueRecord } from './launch.ts';
import { passageStandsAlone } from './manner.ts';
import { decidePassage, mayBeTorn, mayHaveMoved, planFor, whereabouts } from './passage.ts';
import type { Kept, PassageFrame } from './passage-frame.ts';
import { receiptAtHand } from './receipt.ts';
import { isSuperseded, supersede } from './supersede.ts';
import { expiredAtMs } from './withdrawing.ts';
import { firstWriteDueMs, writeGapMs } from './write-gap.ts';

export type Handover = StateOf<(typeof HANDOVER_PHASES)[number]>;

/** `incumbent-fenced` to `route-observed`: forward through the passage that the intent covers. */
export function decideHandover(tx: TransactionRecord, e: DeployEvidence, state: Handover): Decision {
  const { passage } = state;
  const plan = planFor(e, passage);
  const where = whereabouts(e, passage);
  const frame: PassageFrame = {
    tx,
    e,
    passage,
    plan,
    untilMs: state.stuck === null ? (expiredAtMs(tx, e) ?? untilMs(tx, e, passage, where.at === 'granted')) : null,
    persistent: state.stuck !== null,
    keep: (next, more = {}) => keep(tx, e, state, next, more),
    giveUp: (why, fenced) => giveUpForward(tx, e, state, why, fenced && (mayBeTorn(e, where, plan) ? 'torn' : 'whole')),
    arrived: (epoch) => arrived(e, state, plan, epoch),
    confirmed: (epoch, seen) => admit(tx, e, state, epoch, seen),
  };
  if (isSuperseded(e, state.stuck) && !mayBeTorn(e, where, plan)) {
    return supersede(e, state, passage, where, state.stuck, plan.deadlines.stopMs);
  }
  return decidePassage(frame);
}

/**
 * The deadline of the furthest phase that is seen to be entered: its own span from then on, and at most what the spans
 * up to it come to from the intent on. An engine that did not see it begin knows only the latter, and a launch anew has
 * what is left of it.
 */
function untilMs(tx: TransactionRecord, e: DeployEvidence, passage: Passage, granted: boolean): number | null {
  const plan = planFor(e, passage);
  const phase = deadlinePhase(e, granted);
  const spanMs = deadlineMs(tx, phase, plan);
  // What cannot overlap has its whole launch in here.
  const launchMs = passageStandsAlone(e, passage) ? plan.deadlines.startMs + plan.deadlines.warmingMs : 0;
  const summedMs = spanMs === null ? null : spanMs + launchMs;
  const own = phaseRow(phase).deadline.at(-1);
  const enteredMs = e.marks.reached[phase];
  if (summedMs === null || own === undefined || enteredMs === undefined || passage.relaunches > 0) return summedMs;
  return Math.min(summedMs, enteredMs + plan.deadlines[own] + (granted ? 0 : launchMs));
}

function deadlinePhase(e: DeployEvidence, granted: boolean): Phase {
  if (!granted) return 'incumbent-fenced';
  const { reached } = e.marks;
  if (reached['route-observed'] !== undefined) return 'route-observed';
  if (reached['route-published'] !== undefined) return 'route-published';
  return 'write-lease-granted';
}

/** A passage that went on, durable in the phase it is in. */
export function keep(
  tx: TransactionRecord,
  e: DeployEvidence,
  state: Handover,
  passage: Passage,
  more: Kept,
): Decision {
  const { subject } = passage.successor;
  return persist(
    { ...state, passage },
    {
      ...(more.foreignMs === undefined ? {} : { foreignMs: more.foreignMs }),
      ...(more.highestEpoch === undefined ? {} : { target: { highestEpoch: more.highestEpoch } }),
      ...(more.issued === undefined
        ? {}
        : { extra: [{ kind: 'activation', id: more.issued, value: issueRecord(tx, e, subject, more.issued) }] }),
    },
  );
}

function giveUpForward(
  tx: TransactionRecord,
  e: DeployEvidence,
  state: Handover,
  why: Refusal,
  fenced: false | 'torn' | 'whole',
): Decision {
  const { subject, launch } = state.passage.successor;
  return withLastWords(e, launch, why, (told) => {
    if (fenced === false) {
      const { origin, requestId } = state.passage;
      const withdraw = { activation: origin?.activation ?? null, requestId };
      return enter(aborting({ subject, launch, withdraw }, told, expiredAtMs(tx, e) === null ? 'aborted' : 'expired'), {
        entered: [{ phase: 'aborting', note: told.code }],
        clock: 'restart',
        target: { takenBy: null },
      });
    }
    if (fenced === 'torn') return stuck(state, told);
    const barred = whyBarred(e, state.passage);
    if (barred !== null) return stuck(state, { ...told, remedy: barred });
    return returning(e, state.passage, told);
  });
}

/**
 * The way back stands open when the incumbent accepts every schema that the candidate may have written: one that the
 * row never named, launched in the place of what cannot overlap, wrote nothing (I1, I9).
 */
export function whyBarred(e: DeployEvidence, passage: Passage): string | null {
  const incumbent = passage.predecessors[0];
  const written = planFor(e, passage).state;
  if (incumbent === undefined || written === null || !mayHaveMoved(whereabouts(e, passage), passage.origin))
    return null;
  const accepts = planOf(e, incumbent.plan).state?.accepts ?? [];
  if (accepts.includes(written.schema)) return null;
  const until = 'until then the candidate is started again and again';
  return `The incumbent does not accept state schema ${written.schema}: deploy a build that does; ${until}.`;
}

/** Neither forward by the deadline nor back: the person is told once, and the relaunching goes on. */
function stuck(state: Handover, why: Refusal): Decision {
  const { incarnation, revision } = state.passage.successor.subject;
  return persist(
    { ...state, stuck: why },
    { result: { outcome: 'operator-required', refusal: why, incarnation, revision } },
  );
}

/** The way back from a passage, durable as it begins. */
export function returning(
  e: DeployEvidence,
  passage: Passage,
  why: Refusal,
  taking: Pick<Partial<TargetRecord>, 'takenBy'> = {},
): Decision {
  const incumbent = passage.predecessors[0];
  const candidate = { ...passage.successor, spent: passage.spent };
  const back = incumbent === undefined ? null : backwards(e, passage, incumbent);
  const next: DeployState = {
    phase: 'returning',
    why,
    candidate,
    passage: back,
    settled: false,
    gone: false,
    stuck: null,
  };
  const highest = back?.move?.to.epoch ?? e.target.highestEpoch;
  return enter(next, {
    entered: [{ phase: 'returning', note: why.code }],
    clock: 'restart',
    target: { ...taking, highestEpoch: Math.max(highest, e.target.highestEpoch) },
  });
}

/** A promotion backwards: the same passage with the two sides changed over, under the next epoch. */
function backwards(e: DeployEvidence, passage: Passage, incumbent: Body): Passage {
  const { subject, launch } = passage.successor;
  const running: Running | null = launch.step === 'observed' || launch.step === 'current' ? launch : null;
  const where = whereabouts(e, passage);
  const row =
    where.at === 'granted' || passage.move === null ? (passage.move?.to ?? null) : 'row' in where ? where.row : null;
  const from = leaseStaysPut(e, passage, incumbent) ? (row ?? passage.move?.to ?? null) : ownRow(incumbent);
  // Above the candidate's row as well, also where the way back leads elsewhere and no record of ours granted it (I5).
  const highest = Math.max(passage.move?.to.epoch ?? 0, e.target.highestEpoch);
  const epoch = from === null ? null : Math.max(from.epoch, highest) + 1;
  return {
    direction: 'back',
    requestId: e.fresh.request,
    successor: { subject: subjectOf(incumbent), launch: launchOf(incumbent) },
    spent: [],
    relaunches: 0,
    predecessors:
      running === null ? [] : [bodyOf(subject, running, from?.epoch ?? null, passage.echoed.includes(running.id))],
    move: from === null || epoch === null ? null : { from, to: { epoch, activation: incumbent.document.activation } },
    origin: null,
    echoed: passage.echoed,
  };
}

/** Both sides keep their rows in one place; where they do not, the incumbent's is as the incumbent left it. */
export function leaseStaysPut(e: DeployEvidence, { successor }: Passage, incumbent: Body): boolean {
  const [here, there] = [successor.subject.plan, incumbent.plan].map((digest) => planOf(e, digest).state?.lease);
  return here === there;
}

const ownRow = ({ epoch, document }: Body): Standing | null =>
  epoch === null ? null : { epoch, activation: document.activation };

/** The records that the hot path left out, in one commit; they are durable before the fence clears. */
function arrived(e: DeployEvidence, state: Handover, plan: Plan, epoch: number | null): Decision {
  const { reached } = e.marks;
  const line = (phase: Phase, applies: boolean): Entered => {
    const atMs = reached[phase];
    const note = applies ? undefined : 'not-applicable';
    return { phase, ...(note === undefined ? {} : { note }), ...(atMs === undefined ? {} : { atMs }) };
  };
  const entered = [
    line('write-lease-granted', epoch !== null),
    line('ready-observed', true),
    line('route-published', plan.route !== null),
    line('route-observed', plan.route !== null),
  ];
  // An engine that comes after this one, and an observer that does not, still have what it was published on.
  const passage: Passage = { ...state.passage, receipt: receiptAtHand(e, state.passage) };
  const next: DeployState = { ...state, passage, phase: 'route-observed' };
  return { kind: 'persist', state: next, entered, foreignMs: ownActivationMs(e) };
}

/** From the grant to `active` the program itself was starting. */
const ownActivationMs = (e: DeployEvidence): number => {
  const from = e.marks.reached['write-lease-granted'];
  const to = e.marks.reached['ready-observed'];
  return from === undefined || to === undefined ? 0 : Math.max(0, to - from);
};

/** The fence clears and the candidate is admitted in the same commit (I3). */
export function admit(
  tx: TransactionRecord,
  e: DeployEvidence,
  state: Handover,
  epoch: number | null,
  seen: Confirmation,
): Decision {
  const { subject, launch } = state.passage.successor;
  if (launch.step !== 'current') throw new Error('only a current launch is admitted');
  const dueMs = firstWriteDueMs(e, state.passage, epoch);
  if (dueMs !== null) return wait(`the first write of ${launch.id}`, 'it ends by itself', { wakeAtMs: dueMs });
  // The proxy counts from its last hold on; a switch without one held nobody.
  const requests = e.answers['hold-route']?.outcome.ok === true ? seen.report : null;
  const body = bodyOf(subject, launch, epoch, state.passage.echoed.includes(launch.id));
  const leaving = state.passage.predecessors;
  const { incarnation, revision } = subject;
  return {
    kind: 'persist',
    state: { phase: 'draining', admitted: body, leaving },
    entered: [
      { phase: 'fence-cleared' },
      { phase: 'draining', ...(leaving.length === 0 ? { note: 'nothing leaves' } : {}) },
    ],
    clock: 'restart',
    target: {
      admitted: { ...body, ...admissionOf(tx, e, body), runningSince: e.now },
      stranded: null,
      takenBy: null,
    },
    extra: proofOf(tx, e, state.passage, body),
    leaves: 'detach',
    result: {
      outcome: tx.request.kind === 'continuity' ? 'restored' : 'admitted',
      incarnation,
      revision,
      refusal: null,
      writeGapMs: writeGapMs(e, state.passage, epoch),
      ...(requests === null ? {} : { requests }),
    },
  };
}

/** The same release again is no admission of its own. */
function admissionOf(tx: TransactionRecord, e: DeployEvidence, { incarnation }: Body) {
  const { admitted } = e.target;
  return isRestart(tx) && admitted?.incarnation === incarnation
    ? { transaction: admitted.transaction, admittedAt: admitted.admittedAt }
    : { transaction: tx.id, admittedAt: e.now };
}

/** The receipt that it is admitted on becomes durable with the admission. */
function proofOf(tx: TransactionRecord, e: DeployEvidence, passage: Passage, body: Body): readonly ExtraWrite[] {
  const { activation } = body.document;
  const ready = receiptAtHand(e, passage);
  if (ready === null || ready.epoch !== body.epoch) return [];
  const value: ReadyProofRecord = {
    schema: 'idunn.ready-proof/v1',
    activation,
    target: tx.target,
    incarnation: body.incarnation,
    epoch: ready.epoch,
    presenceSequence: ready.sequence,
    receipt: ready.receipt,
    envelope: ready.envelope ?? null,
    transaction: tx.id,
    at: e.now,
  };
  return [{ kind: 'ready-proof', id: activation, value }];
}
