import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, seen, unknown } from '@idunn/kernel';
import { bodyOf } from '../records/body.ts';
import { noContinuity } from '../records/continuity.ts';
import type { DeployState, TransactionRecord } from '../records/transaction.ts';
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
  rows,
  TARGET,
  transaction,
  word,
} from '../testing/samples.ts';
import { decideContinuity } from './continuity.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Effect } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

/** What befalls a deployment, by the rows of its table: up to `warming`, from the fence on, from `fence-cleared` on. */
const { subject } = NEW;
const old = launchOf(OLD, 'act-old', 11);
const gone = { found: absent, process: absent, presence: absent, word: absent };
const candidateDead = { 'act-old': alive(old), 'act-new': gone };
const incumbentDead = { 'act-old': gone, 'act-new': alive(CANDIDATE, { word: seen(word(NEW, 'act-new')) }) };
const rebooted = { ...laterBy(-40_000), bootId: 'boot-2' };
const autopsied = answered([
  { kind: 'autopsy', activation: 'act-new', word: null },
  { exit: null, log: ['boom'], presence: null, reading: null },
]);
const held = { rows: seen(rows(5, 'act-new')) };
const end: Effect = { kind: 'end-process', activation: 'act-new', handle: CANDIDATE.handle, graceMs: 100 };
const cleared = answered(
  [end, { kind: 'gone', proof: 'tree-empty', forced: false }],
  [{ kind: 'retire', activation: 'act-new' }, 'retired'],
);

const at = (phase: string, state: DeployState): readonly [string, TransactionRecord] => [phase, transaction(state)];
const BEFORE = [
  at('candidate-started', {
    phase: 'candidate-started',
    subject,
    launch: { step: 'minted', id: 'act-new', document: CANDIDATE.document },
  }),
  at('activation-observed', { phase: 'activation-observed', subject, launch: CANDIDATE }),
  at('warming', { phase: 'warming', subject, launch: CANDIDATE }),
];
const step = (record: TransactionRecord, e: Partial<DeployEvidence>): Decision => decide(record, evidence(e));
const stateOf = (decision: Decision): DeployState => {
  assert.ok(decision.kind === 'persist', JSON.stringify(decision));
  return decision.state;
};

test('I7: up to warming, the candidate dies: it aborts, and asks nothing of the incumbent', () => {
  const started = answered([{ kind: 'start', subject, document: CANDIDATE.document }, CANDIDATE.handle]);
  for (const [phase, record] of BEFORE) {
    const state = stateOf(step(record, { slots: candidateDead, answers: { ...started, ...autopsied } }));
    assert.ok(state.phase === 'aborting', phase);
    assert.deepEqual([state.outcome, state.why.code, state.withdraw], ['aborted', 'candidate-exited', null]);
    const asked = step(transaction(state), { slots: candidateDead });
    assert.equal(asked.kind === 'act' && asked.effect.kind === 'end-process' && asked.effect.activation, 'act-new');
  }
});

test('I9: up to warming, the incumbent dies: the deployment goes on, and continuity restarts it meanwhile', () => {
  for (const [phase, record] of BEFORE.slice(1)) {
    const [calm, struck] = [step(record, {}), step(record, { slots: incumbentDead })];
    assert.equal(struck.kind, calm.kind, phase);
    assert.ok(struck.kind !== 'persist' || struck.state.phase !== 'aborting', phase);
  }
  const restart = decideContinuity(vigil({ head: transaction({ phase: 'materialized', plan: subject.plan }) }));
  assert.ok(restart.kind === 'persist' && restart.begin !== null);
});

test('I6: up to warming, the machine reboots: phases resume, and the activation is void and minted again', () => {
  const built = step(transaction({ phase: 'materialized', plan: subject.plan }), { now: rebooted });
  assert.deepEqual([stateOf(built).phase, built.kind === 'persist' && built.clock], ['materialized', 'restart']);
  for (const [phase, record] of BEFORE) {
    const state = stateOf(step(record, { now: rebooted }));
    assert.ok(state.phase === 'activation-issued', phase);
    assert.deepEqual(state.launch, { step: 'issued', id: 'act-fresh' });
  }
});

test('I6: from the fence to route-observed, the candidate dies: it is relaunched as a new activation', () => {
  const state = stateOf(step(transaction(HANDOVER), { ...held, slots: candidateDead, answers: cleared }));
  assert.ok(state.phase === 'incumbent-fenced');
  assert.deepEqual(state.passage.successor.launch, { step: 'issued', id: 'act-fresh' });
  assert.deepEqual(state.passage.spent, ['act-new']);
});

test('I6: from the fence to route-observed, at the deadline: it returns if it may, else a person is told', () => {
  const late = { ...held, slots: candidateDead, now: laterBy(60_000), answers: autopsied };
  assert.equal(stateOf(step(transaction(HANDOVER), late)).phase, 'returning');
  const other = buildOf('new', 'events-v2');
  const launch = launchOf(other, 'act-new', 12);
  const { passage } = HANDOVER;
  const barred = transaction({ ...HANDOVER, passage: { ...passage, successor: { subject: other.subject, launch } } });
  const known = {
    plans: { [OLD.subject.plan]: OLD.plan, [other.subject.plan]: other.plan },
    incarnations: { [OLD.subject.incarnation]: OLD, [other.subject.incarnation]: other },
  };
  const told = step(barred, { ...late, ...known });
  assert.equal(told.kind === 'persist' && told.result?.outcome, 'operator-required');
  const stuck = stateOf(told);
  assert.ok(stuck.phase === 'incumbent-fenced' && stuck.stuck !== null);
  const again = stateOf(step(transaction(stuck), { ...late, ...known, answers: { ...autopsied, ...cleared } }));
  assert.ok(again.phase === 'incumbent-fenced');
  assert.deepEqual(again.passage.successor.launch, { step: 'issued', id: 'act-fresh' });
});

test('I6: from the fence to route-observed, the incumbent dies: it is fenced already', () => {
  const [calm, struck] = [{}, { slots: incumbentDead }].map((more) =>
    step(transaction(HANDOVER), { ...held, ...more }),
  );
  assert.deepEqual(struck, calm);
});

test('I6: from the fence to route-observed, the machine reboots: whom the lease row names is relaunched', () => {
  const record = transaction(HANDOVER);
  const begun = step(record, { ...held, now: rebooted });
  assert.equal(begun.kind === 'persist' && begun.clock, 'restart');
  const after = transaction(HANDOVER, { clock: { startedAt: rebooted, frozenSince: null, pausedMs: 0 } });
  const nobody = { 'act-old': gone, 'act-new': gone };
  const candidate = stateOf(step(after, { ...held, now: rebooted, slots: nobody, answers: cleared }));
  assert.ok(candidate.phase === 'incumbent-fenced', 'the candidate holds it');
  assert.deepEqual(candidate.passage.successor, { subject, launch: { step: 'issued', id: 'act-fresh' } });
  const unread = step(after, { rows: unknown('I/O error'), now: rebooted, slots: nobody, answers: cleared });
  assert.equal(unread.kind, 'wait', 'I10: without the row nobody is relaunched');
});

const ADMITTED = bodyOf(subject, CANDIDATE, 5, true);
const admitted = { ...ADMITTED, transaction: 'tx-1', admittedAt: NOW, runningSince: NOW };
const vigil = (more: Partial<Parameters<typeof decideContinuity>[0]> = {}): Parameters<typeof decideContinuity>[0] => ({
  now: NOW,
  fresh: { activation: 'act-fresh', transaction: 'tx-fresh' },
  target: { ...TARGET, queue: [] },
  record: noContinuity('app'),
  plan: OLD.plan,
  head: null,
  process: absent,
  presence: absent,
  word: absent,
  hold: absent,
  rows: absent,
  holder: { issued: true, found: absent },
  route: unknown('not read'),
  projected: null,
  listened: { sinceMs: NOW.monotonicMs, untilMs: NOW.monotonicMs },
  answers: {},
  running: [],
  ...more,
});
const cause = (more: Partial<Parameters<typeof decideContinuity>[0]>): string | null => {
  const decision = decideContinuity(vigil(more));
  const request = decision.kind === 'persist' ? decision.begin?.transaction.request : undefined;
  return request?.kind === 'continuity' ? request.cause : null;
};

test('I9: from fence-cleared on, the candidate dies: it is admitted, and continuity’s', () => {
  const draining = transaction({ phase: 'draining', admitted: ADMITTED, leaving: [INCUMBENT] });
  const target = { ...TARGET, admitted, queue: [], draining: ['tx-1'] };
  const [calm, struck] = [{}, { slots: candidateDead }].map((more) => step(draining, { target, ...more }));
  assert.deepEqual(struck, calm, 'what drains, drains');
  assert.equal(cause({ target, plan: NEW.plan }), 'died');
});

test('I6: from fence-cleared on, the incumbent dies: its drain ends with it', () => {
  const draining = transaction({ phase: 'draining', admitted: ADMITTED, leaving: [INCUMBENT] });
  const ended: Effect = { kind: 'end-process', activation: 'act-old', handle: INCUMBENT.handle, graceMs: 100 };
  const { incarnation } = INCUMBENT;
  const answers = answered(
    [{ kind: 'open-requests', route: 'app', incarnation, withinMs: 1_000 }, 0],
    [ended, { kind: 'gone', proof: 'tree-empty', forced: false }],
    [{ kind: 'demote', incarnation, activation: 'act-old' }, 'acknowledged'],
    [{ kind: 'withdraw-expected', incarnation }, 'acknowledged'],
    [{ kind: 'retire', activation: 'act-old' }, 'retired'],
  );
  const target = { ...TARGET, admitted, queue: [], draining: ['tx-1'] };
  const state = stateOf(step(draining, { slots: incumbentDead, answers, target }));
  assert.deepEqual(state.phase === 'draining' && state.leaving, []);
});

test('I9: from fence-cleared on, the machine reboots: what is admitted comes back without charge or wait', () => {
  const target = { ...TARGET, admitted, queue: [] };
  const now = { ...laterBy(1_000), bootId: 'boot-2' };
  assert.equal(cause({ target, plan: NEW.plan, now }), 'rebooted');
  const decision = decideContinuity(vigil({ target, plan: NEW.plan, now }));
  assert.equal(decision.kind === 'persist' ? decision.record.streak : null, 0);
});
