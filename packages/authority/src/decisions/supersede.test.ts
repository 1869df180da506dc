import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, refusal, seen } from '@idunn/kernel';
import { bodyOf, type Launch } from '../records/body.ts';
import { noContinuity } from '../records/continuity.ts';
import type { Passage } from '../records/passage.ts';
import {
  alive,
  answered,
  CANDIDATE,
  evidence,
  HANDOVER,
  INCUMBENT,
  launchOf,
  NEW,
  NOW,
  OLD,
  rows,
  TARGET,
  transaction,
} from '../testing/samples.ts';
import { decideContinuity } from './continuity.ts';
import { NOT_LOOKED } from './continuity-evidence.ts';
import { decide } from './decide.ts';
import type { Effect } from './effects.ts';

const GONE = { kind: 'gone', proof: 'tree-empty', forced: true };
const ended = (activation: string): Effect => ({ kind: 'end-process', activation, handle: null, graceMs: 100 });
const retired = (activation: string) => [{ kind: 'retire', activation } as const, 'retired'] as const;
const HOLDER = bodyOf(NEW.subject, CANDIDATE, 5, true);
const stuck = refusal('candidate-exited', 'It ended 5 times after its grant.');
const target = { ...TARGET, takenBy: 'tx-1', queue: ['tx-1', 'tx-2'] };
const issued: Launch = { step: 'issued', id: 'act-next' };
const dead = { found: absent, process: absent, presence: absent, word: absent };

/** A handover that is stuck while its next launch is only issued, and another command waits behind it. */
const superseded = (passage: Partial<Passage>, row = rows(5, 'act-new'), stranded = target.stranded) => {
  const record = transaction({
    ...HANDOVER,
    stuck,
    passage: { ...HANDOVER.passage, successor: { subject: NEW.subject, launch: issued }, relaunches: 1, ...passage },
  });
  const e = evidence({
    target: { ...target, stranded },
    rows: seen(row),
    answers: answered([ended('act-next'), GONE], retired('act-next')),
    slots: { 'act-old': dead, 'act-next': dead },
  });
  const decision = decide(record, e);
  assert.ok(decision.kind === 'persist' && decision.leaves === 'end');
  return decision.target;
};

test('I9: a launch that ended while the row named it is remembered as its holder until the next one is granted', () => {
  const slots = { 'act-old': dead, 'act-new': dead };
  const autopsy = answered(
    [{ kind: 'end-process', activation: 'act-new', handle: CANDIDATE.handle, graceMs: 100 }, GONE],
    retired('act-new'),
  );
  const granted = decide(transaction(HANDOVER), evidence({ rows: seen(rows(5, 'act-new')), slots, answers: autopsy }));
  assert.ok(granted.kind === 'persist' && granted.state.phase === 'incumbent-fenced');
  assert.equal(granted.state.passage.successor.launch.step, 'issued');
  assert.deepEqual(granted.state.passage.held, HOLDER);
});

test('I9, F22: whom the row names is left stranded when a stuck handover is superseded between two launches', () => {
  const left = superseded({ spent: ['act-new'], held: HOLDER });
  assert.deepEqual(left, { stranded: HOLDER, takenBy: null });
  // The next deployment aborts: the holder is restarted, though what is admitted lives without the lease.
  const restart = decideContinuity({
    now: NOW,
    fresh: { activation: 'act-fresh', transaction: 'tx-fresh' },
    target: { ...TARGET, ...left, queue: [] },
    record: noContinuity('app'),
    plan: NEW.plan,
    head: null,
    process: absent,
    presence: absent,
    word: absent,
    hold: absent,
    rows: NOT_LOOKED,
    holder: evidence().holder,
    route: absent,
    projected: null,
    listened: { sinceMs: NOW.monotonicMs, untilMs: NOW.monotonicMs },
    answers: {},
    running: [],
  });
  assert.ok(restart.kind === 'persist' && restart.begin !== null);
  assert.equal(restart.begin.activation?.incarnation, NEW.subject.incarnation);
});

test('I1: a launch that gives way is spent, so that a start of it that is still on its way starts nothing', () => {
  const record = transaction(
    { ...HANDOVER, passage: { ...HANDOVER.passage, successor: { subject: NEW.subject, launch: issued } } },
    { request: { kind: 'continuity', cause: 'died' } },
  );
  const decided = (...given: readonly (readonly [Effect, unknown])[]) =>
    decide(
      record,
      evidence({
        target: { ...target, awaitedBy: 'tx-2' },
        rows: seen(rows(4, 'act-old')),
        answers: answered(...given),
        slots: { 'act-old': dead, 'act-next': dead },
      }),
    );
  const gone = decided([ended('act-next'), GONE]);
  assert.deepEqual(gone.kind === 'act' && gone.effect, retired('act-next')[0]);
  const yielded = decided([ended('act-next'), GONE], retired('act-next'));
  assert.ok(yielded.kind === 'persist' && yielded.result?.refusal?.code === 'restart-yielded');
});

test('I9: what was stranded before stays so where the handover that is superseded was never granted', () => {
  const earlier = { ...INCUMBENT, epoch: 4 };
  assert.deepEqual(superseded({}, rows(4, 'act-old'), earlier), { stranded: earlier, takenBy: null });
  assert.deepEqual(superseded({}, rows(4, 'act-old')), { stranded: null, takenBy: null });
});

test('F16: who was stranded before is seen to end before another stands in its record, though it was seen gone', () => {
  const earlier = bodyOf(OLD.subject, launchOf(OLD, 'act-earlier', 14), 4, true);
  const record = transaction({ ...HANDOVER, stuck });
  const decided = (...given: readonly (readonly [Effect, unknown])[]) =>
    decide(
      record,
      evidence({
        target: { ...target, stranded: earlier },
        rows: seen(rows(5, 'act-new')),
        answers: answered(...given),
        slots: { 'act-new': alive(CANDIDATE), 'act-earlier': dead },
      }),
    );
  const end: Effect = { kind: 'end-process', activation: 'act-earlier', handle: earlier.handle, graceMs: 100 };
  const first = decided();
  assert.deepEqual(first.kind === 'act' ? first.effect : first, end);
  const gone = decided([end, GONE]);
  assert.deepEqual(gone.kind === 'act' && gone.effect, retired('act-earlier')[0]);
  const then = decided([end, GONE], retired('act-earlier'));
  assert.ok(then.kind === 'persist' && then.leaves === 'end');
  assert.deepEqual(then.target, { stranded: HOLDER, takenBy: null });
});
