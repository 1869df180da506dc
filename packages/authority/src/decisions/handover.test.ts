import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, seen, unknown } from '@idunn/kernel';
import {
  alive,
  answered,
  buildOf,
  CANDIDATE,
  evidence,
  HANDOVER,
  INCUMBENT,
  laterBy,
  launchOf,
  NEW,
  NOW,
  OLD,
  routeTo,
  rows,
  TARGET,
  transaction,
  word,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import type { Effect } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

const tx = transaction(HANDOVER);
const hold: Effect = { kind: 'hold-route', route: 'app', termMs: 500 };
const relinquish: Effect = {
  kind: 'relinquish',
  activation: 'act-old',
  requestId: 'req-1',
  epoch: 4,
  termMs: 100,
  withinMs: 50,
};
const polite = answered([hold, 'held'], [relinquish, { kind: 'relinquished', lastWriteAtMs: 49_990 }]);
const step = (e: Partial<DeployEvidence>, record = tx) => decide(record, evidence(e));
const effectOf = (e: Partial<DeployEvidence>, record = tx): string => {
  const decision = step(e, record);
  return decision.kind === 'act' ? decision.effect.kind : decision.kind;
};
const dead = { found: absent, process: absent, presence: absent, word: absent };
const oldAlive = alive(launchOf(OLD, 'act-old', 11));

test('the handover is polite first: hold, relinquish, then one move of the row', () => {
  assert.equal(effectOf({}), 'hold-route');
  assert.equal(effectOf({ answers: answered([hold, 'held']) }), 'relinquish');
  const moved = step({ answers: polite });
  assert.deepEqual(moved.kind === 'act' && moved.effect.kind === 'swap' ? moved.effect.move : null, {
    from: { epoch: 4, activation: 'act-old' },
    to: { epoch: 5, activation: 'act-new' },
  });
});

test('without an answer in time the move is made all the same', () => {
  const silent = answered([hold, 'held'], [relinquish, { kind: 'silent', because: 'no answer' }]);
  assert.equal(effectOf({ answers: silent }), 'swap');
});

for (const missing of ['act-old', 'act-new']) {
  test(`I1: without the echo of ${missing} only the whole tree seen gone fences`, () => {
    const echoed = HANDOVER.passage.echoed.filter((id) => id !== missing);
    const record = transaction({ ...HANDOVER, passage: { ...HANDOVER.passage, echoed } });
    assert.equal(effectOf({ answers: polite }, record), 'end-process');
  });
}

test('I10: an end that proves nothing about descendants fences nobody', () => {
  const record = transaction({ ...HANDOVER, passage: { ...HANDOVER.passage, echoed: [] } });
  const ended: Effect = { kind: 'end-process', activation: 'act-old', handle: INCUMBENT.handle, graceMs: 100 };
  const answers = { ...polite, ...answered([ended, { kind: 'parent-gone' }]) };
  assert.equal(step({ answers }, record).kind, 'wait');
  assert.equal(
    effectOf(
      { answers: { ...polite, ...answered([ended, { kind: 'gone', proof: 'tree-empty', forced: true }]) } },
      record,
    ),
    'swap',
  );
});

test('a database that the fenced process holds costs it its tree', () => {
  const moved: Effect = {
    kind: 'swap',
    plan: NEW.subject.plan,
    move: { from: { epoch: 4, activation: 'act-old' }, to: { epoch: 5, activation: 'act-new' } },
    release: NEW.subject.release,
    stateSchema: 'events-v1',
    deadlineMs: 100,
  };
  assert.equal(
    effectOf({ answers: { ...polite, ...answered([moved, { kind: 'busy', store: 'journal' }]) } }),
    'end-process',
  );
});

test('I6: once an intent exists the row says where it stands, whatever phase is recorded', () => {
  assert.equal(effectOf({ rows: seen(rows(5, 'act-new')) }), 'open-channel');
  assert.equal(effectOf({ rows: seen(rows(4, 'act-old')) }), 'hold-route');
});

test('I10: a row that cannot be read moves nothing', () => {
  assert.equal(step({ rows: unknown('I/O error'), answers: polite }).kind, 'wait');
});

test('I1: a row that names a stranger is held, never overwritten', () => {
  assert.equal(step({ rows: seen(rows(9, 'act-stranger')), answers: polite }).kind, 'wait');
});

const open: Effect = { kind: 'open-channel', handle: CANDIDATE.handle };
const grant: Effect = { kind: 'grant', grant: { activation: 'act-new', stateId: 'app-state', epoch: 5 } };
const granted = answered([open, 'open'], [grant, 'delivered']);
const present = { state: 'active' as const, epoch: 5, sequence: 4, observedAtMs: 0, fresh: true };
const receipt = { receipt: 'sha256:r', activation: 'act-new', epoch: 5, sequence: 4, observedAtMs: 0 };
const serving = (more: Parameters<typeof word>[2]) => ({
  rows: seen(rows(5, 'act-new')),
  answers: granted,
  slots: { 'act-old': oldAlive, 'act-new': alive(CANDIDATE, { word: seen(word(NEW, 'act-new', more)) }) },
});

test('I3: the grant publishes no route; Ready does', () => {
  assert.equal(step(serving({ present })).kind, 'wait');
  assert.equal(effectOf(serving({ present, ready: receipt })), 'stage-route');
});

for (const [what, ready] of [
  ['activation', { ...receipt, activation: 'act-earlier' }],
  ['epoch', { ...receipt, epoch: 4 }],
] as const) {
  test(`I5: a Ready receipt of another ${what} is worth nothing`, () => {
    assert.equal(step(serving({ present, ready })).kind, 'wait');
  });
}

test('I1: a presence under an epoch that nobody granted ends the candidate', () => {
  const decision = step(serving({ present: { ...present, epoch: 6 } }));
  assert.equal(decision.kind === 'act' ? decision.effect.kind : null, 'autopsy');
});

test('I7: before anything moved a dead candidate is given up and the incumbent told to go on', () => {
  const slots = { 'act-old': oldAlive, 'act-new': dead };
  const autopsy: Effect = { kind: 'autopsy', activation: 'act-new', word: null };
  const decision = step({
    slots,
    answers: answered([autopsy, { exit: null, log: ['boom'], presence: null, reading: 'answered 503' }]),
  });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'aborting');
  assert.deepEqual(decision.state.withdraw, { activation: 'act-old', requestId: 'req-1' });
  assert.deepEqual(decision.state.why.detail, { log: ['boom'], presence: null, probe: 'answered 503' });
});

test('I6: after the fence a dead candidate is launched anew inside the transaction, under a fresh activation', () => {
  const ended: Effect = { kind: 'end-process', activation: 'act-new', handle: CANDIDATE.handle, graceMs: 100 };
  const answers = answered(
    [ended, { kind: 'gone', proof: 'tree-empty', forced: false }],
    [{ kind: 'retire', activation: 'act-new' }, 'retired'],
  );
  const decision = step({ rows: seen(rows(5, 'act-new')), slots: { 'act-old': oldAlive, 'act-new': dead }, answers });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'incumbent-fenced');
  assert.deepEqual(decision.state.passage.successor.launch, { step: 'issued', id: 'act-fresh' });
  assert.deepEqual(decision.state.passage.spent, ['act-new']);
});

const autopsied = answered([
  { kind: 'autopsy', activation: 'act-new', word: null },
  { exit: null, log: [], presence: null, reading: null },
]);
const late = { now: laterBy(60_000), rows: seen(rows(5, 'act-new')), answers: { ...granted, ...autopsied } };

test('past its deadline after the fence the deployment returns under the next epoch', () => {
  const decision = step(late);
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'returning');
  assert.equal(decision.state.why.code, 'candidate-never-active');
  assert.deepEqual(decision.state.passage?.move, {
    from: { epoch: 5, activation: 'act-new' },
    to: { epoch: 6, activation: 'act-old' },
  });
});

const torn = (one: string | null, other: string | null) => {
  const [first = never(), second = never()] = [rows(5, one), rows(other === null ? 5 : 4, other)].map(
    ({ journal }) => journal,
  );
  return seen({ journal: first, second });
};
const never = (): never => {
  throw new Error('a sample has a row');
};

test('I6, I9: a move that is half made at the deadline is made whole before the deployment returns', () => {
  const ending = { ...late, answers: { ...polite, ...autopsied } };
  for (const halfway of [torn(null, 'act-old'), torn(null, null), torn('act-new', null)]) {
    const decision = step({ ...ending, rows: halfway });
    assert.deepEqual(decision.kind === 'act' && decision.effect.kind === 'swap' ? decision.effect.move : null, {
      from: { epoch: 4, activation: 'act-old' },
      to: { epoch: 5, activation: 'act-new' },
    });
  }
  const swap = step({ ...ending, rows: torn(null, null) });
  assert.ok(swap.kind === 'act');
  const slow = { ...ending.answers, ...answered([swap.effect, { kind: 'unknown', because: 'the disk is slow' }]) };
  const withdrawal = { kind: 'expire', operation: 'op-2', actor: 'ada', tenant: 'local', at: NOW } as const;
  const expired = transaction(HANDOVER, { withdrawal });
  const waiting = step({ ...ending, now: NOW, rows: torn(null, null), answers: slow }, expired);
  assert.ok(waiting.kind === 'wait' && waiting.untilMs === null && waiting.incident === 'fence-not-proven');
});

test('I6, I9: with rows of several stores unread at the deadline nothing begins in the middle of a move', () => {
  const stores = OLD.plan.state?.stores ?? [];
  const state = { ...(NEW.plan.state ?? never()), stores: [...stores, ...stores] };
  const plans = { [OLD.subject.plan]: OLD.plan, [NEW.subject.plan]: { ...NEW.plan, state } };
  const unread = { ...late, rows: unknown('I/O error'), plans };
  const told = step(unread);
  assert.ok(told.kind === 'persist' && told.state.phase === 'incumbent-fenced' && told.state.stuck !== null);
  assert.equal(told.result?.outcome, 'operator-required');
  const target = { ...TARGET, takenBy: 'tx-1', queue: ['tx-1', 'tx-2'] };
  assert.equal(step({ ...unread, target }, transaction(told.state)).kind, 'wait', 'whoever is behind it waits');
  const astray = { ...unread, rows: seen(rows(9, 'act-stranger')), target };
  assert.equal(effectOf(astray, transaction(told.state)), 'end-process', 'rows that agree are no half of a move');
  const moving = { ...unread, rows: torn('act-new', null), target, answers: polite };
  assert.equal(effectOf(moving, transaction(told.state)), 'swap');
});

test('F5: a phase of the handover has its own span from when it was seen to begin; unseen, the spans add up', () => {
  const { readyMs, routeMs } = NEW.plan.deadlines;
  const begun = NOW.monotonicMs + 10;
  const marks = (reached: Readonly<Record<string, number>>) => ({ reached, firstWrites: {}, receipts: {} });
  const until = (reached: Readonly<Record<string, number>>): number | null => {
    const decision = step({
      ...serving({ present: { ...present, state: 'warming', epoch: null } }),
      marks: marks(reached),
    });
    assert.equal(decision.kind, 'wait');
    return decision.kind === 'wait' ? decision.untilMs : null;
  };
  assert.equal(until({ 'write-lease-granted': begun }), begun + readyMs);
  assert.equal(until({ 'write-lease-granted': begun, 'route-observed': begun + 50 }), begun + 50 + routeMs);
  assert.ok((until({}) ?? 0) > begun + readyMs, 'another engine saw it begin');
});

test('the way back is barred where the incumbent does not accept what the candidate may have written', () => {
  const next = buildOf('new', 'events-v2');
  const passage = { ...HANDOVER.passage, successor: { subject: next.subject, launch: CANDIDATE } };
  const decision = step(
    { ...late, plans: { [OLD.subject.plan]: OLD.plan, [next.subject.plan]: next.plan } },
    transaction({ ...HANDOVER, passage }),
  );
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'incumbent-fenced');
  assert.equal(decision.result?.outcome, 'operator-required');
  assert.match(decision.state.stuck?.remedy ?? '', /events-v2/);
});

test('I3: the fence clears only when lease and route, each read again, name the candidate', () => {
  const record = transaction({ ...HANDOVER, phase: 'route-observed' });
  const probe: Effect = { kind: 'observe-route', route: 'app', path: '/version' };
  const confirm: Effect = { kind: 'confirm', plan: NEW.subject.plan, activation: 'act-new' };
  const confirmed = (epoch: number, named: string, routed: string) =>
    step(
      {
        ...serving({ present, ready: receipt }),
        route: seen(routeTo('act-new')),
        answers: {
          ...granted,
          ...answered(
            [probe, { incarnation: NEW.subject.incarnation, status: 200, body: null }],
            [confirm, { rows: rows(epoch, named), route: routeTo(routed), report: null }],
          ),
        },
      },
      record,
    );
  assert.equal(confirmed(5, 'act-old', 'act-new').kind, 'wait');
  assert.equal(confirmed(6, 'act-new', 'act-new').kind, 'wait');
  assert.equal(confirmed(5, 'act-new', 'act-old').kind, 'wait');
  const admitted = confirmed(5, 'act-new', 'act-new');
  assert.ok(admitted.kind === 'persist' && admitted.state.phase === 'draining');
  assert.equal(admitted.target?.admitted?.document.activation, 'act-new');
  // The receipt that it was admitted on becomes durable with the admission (I4).
  const proof = admitted.extra?.[0];
  assert.ok(proof?.kind === 'ready-proof' && proof.value !== null);
  assert.deepEqual([proof.value.activation, proof.value.epoch, proof.value.receipt], ['act-new', 5, 'sha256:r']);
  assert.deepEqual(
    admitted.entered.map(({ phase }) => phase),
    ['fence-cleared', 'draining'],
  );
});

test('the outcome waits a moment for the word of the first write, and only where somebody is about to write', () => {
  const record = transaction({ ...HANDOVER, phase: 'route-observed' });
  const served = routeTo('act-new');
  const probe: Effect = { kind: 'observe-route', route: 'app', path: '/version' };
  const confirm: Effect = { kind: 'confirm', plan: NEW.subject.plan, activation: 'act-new' };
  const reached = { 'route-observed': NOW.monotonicMs };
  const confirmed = (lastWriteAtMs: number | null, more: Partial<DeployEvidence> = {}) =>
    step(
      {
        ...serving({ present, ready: receipt }),
        route: seen(served),
        marks: { reached, firstWrites: {}, receipts: {} },
        answers: {
          ...granted,
          ...answered(
            [hold, 'held'],
            [relinquish, { kind: 'relinquished', lastWriteAtMs }],
            [probe, { incarnation: NEW.subject.incarnation, status: 200, body: null }],
            [confirm, { rows: rows(5, 'act-new'), route: served, report: null }],
          ),
        },
        ...more,
      },
      record,
    );
  const gapOf = (decision: ReturnType<typeof confirmed>) =>
    decision.kind === 'persist' ? decision.result?.writeGapMs : decision.kind;
  const last = NOW.monotonicMs - 10;
  assert.equal(gapOf(confirmed(last)), 'wait');
  const firstWrites = { 'act-new': { epoch: 5, atMs: NOW.monotonicMs + 4 } };
  assert.equal(gapOf(confirmed(last, { marks: { reached, firstWrites, receipts: {} } })), 14);
  assert.equal(gapOf(confirmed(last, { now: laterBy(200) })), null, 'nobody came');
  assert.equal(gapOf(confirmed(last - 1_000)), null, 'nobody had written for a while');
  assert.equal(gapOf(confirmed(null)), null, 'nobody had ever written');
});
