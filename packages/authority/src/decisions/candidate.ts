import type { Launch } from '../records/body.ts';
import type { DeployState, StateOf, TransactionRecord } from '../records/transaction.ts';
import { deadlineMs, isPast } from './deadline.ts';
import { attempt, type Decision, enter } from './decision.ts';
import { publicationKey } from './effects.ts';
import { type DeployEvidence, planOf } from './evidence.ts';
import { giveUp, late } from './failing.ts';
import { decideLaunch, issueRecord, neverWarmed } from './launch.ts';
import { heldBySomebody, keptApart } from './lease-at-hand.ts';
import { standsAlone } from './manner.ts';
import { observerAway } from './receipt.ts';
import { decideStop, stopsFirst } from './stopping.ts';

/** `expected-published`: Expected stands beside the incumbent's and the observer said so (I4). */
export function decideExpected(
  tx: TransactionRecord,
  e: DeployEvidence,
  state: StateOf<'expected-published'>,
): Decision {
  const { subject } = state;
  const untilMs = deadlineMs(tx, 'expected-published', planOf(e, subject.plan));
  const failed = (why: Parameters<typeof giveUp>[2]): Decision => giveUp(e, { subject, launch: null }, why);
  if (isPast(e, untilMs))
    return failed(
      late(e, [`publish-expected ${subject.incarnation}`], 'The observer did not acknowledge Expected in time.'),
    );
  const effect = { kind: 'publish-expected', subject } as const;
  return attempt(e, effect, { what: 'the observer’s acknowledgement', untilMs, failed }, () => issue(tx, e, subject));
}

/** A fresh activation: its id is durable before anything is minted under it. */
export function issue(tx: TransactionRecord, e: DeployEvidence, subject: StateOf<'warming'>['subject']): Decision {
  const id = e.fresh.activation;
  return enter(
    { phase: 'activation-issued', subject, launch: { step: 'issued', id } },
    {
      entered: [{ phase: 'activation-issued' }],
      clock: 'restart',
      extra: [{ kind: 'activation', id, value: issueRecord(tx, e, subject, id) }],
    },
  );
}

type Launching = StateOf<'activation-issued' | 'candidate-started' | 'activation-observed'>;

const PHASE_OF_STEP = {
  issued: 'activation-issued',
  minted: 'candidate-started',
  observed: 'activation-observed',
  current: 'activation-observed',
} as const;

/** `activation-issued` to `activation-observed`: the candidate starts privately, without route or lease (I7). */
export function decideLaunching(tx: TransactionRecord, e: DeployEvidence, state: Launching): Decision {
  const { subject, launch } = state;
  const untilMs = deadlineMs(tx, state.phase, planOf(e, subject.plan));
  const failed = (why: Parameters<typeof giveUp>[2]): Decision => giveUp(e, { subject, launch }, why);
  if (isPast(e, untilMs)) return failed(tooLate(tx, e, state));
  if (state.phase === 'activation-issued' && stopsFirst(e, planOf(e, subject.plan))) {
    return decideStop(tx, e, { ...state, phase: 'activation-issued' }, { untilMs, failed });
  }
  return decideLaunch(e, subject, launch, {
    untilMs,
    alone: tx.request.kind === 'continuity',
    failed,
    anew: () => issue(tx, e, subject),
    advance: (next) => advance(state, next),
    warm: (running) =>
      enter(
        { phase: 'warming', subject, launch: running },
        { entered: [{ phase: 'warming' }], clock: 'restart', foreignMs: ownStartMs(tx, e) },
      ),
  });
}

function advance(state: Launching, launch: Launch): Decision {
  const phase = PHASE_OF_STEP[launch.step];
  const next: DeployState = { ...state, phase, launch };
  return enter(next, phase === state.phase ? { entered: [] } : { entered: [{ phase }], clock: 'restart' });
}

function tooLate(tx: TransactionRecord, e: DeployEvidence, state: Launching) {
  const { id } = state.launch;
  const plan = planOf(e, state.subject.plan);
  const apart = standsAlone(plan) && state.phase === 'activation-issued' ? keptApart(e) : null;
  const held = heldBySomebody(tx, e, plan, id) ?? apart ?? observerAway(e, id);
  if (held !== null) return held;
  const steps = [
    'prepare-lease',
    `mint ${id}`,
    `start ${id}`,
    publicationKey(id, {}),
    publicationKey(id, { gate: 'waiting' }),
  ];
  if (state.phase !== 'activation-observed') return late(e, steps, 'The candidate was not seen to run in time.');
  return neverWarmed(e, state.subject, id);
}

/** From the observed process to its `warming` the program itself was starting. */
const ownStartMs = (tx: TransactionRecord, e: DeployEvidence): number =>
  Math.max(0, e.now.monotonicMs - tx.since.monotonicMs);
