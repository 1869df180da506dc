import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Refusal, seen, unknown } from '@idunn/kernel';
import type { Passage } from '../records/passage.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import {
  alive,
  answered,
  CANDIDATE,
  evidence,
  FREEZE,
  HANDOVER,
  INCUMBENT,
  laterBy,
  launchOf,
  NEW,
  NOW,
  OLD,
  rows,
  transaction,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import type { Effect } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

/** A launch anew, past the fence: it is current, and has said nothing yet. */
const AGAIN = launchOf(NEW, 'act-again', 13);
const passage: Passage = {
  ...HANDOVER.passage,
  successor: { subject: NEW.subject, launch: AGAIN },
  spent: ['act-new'],
  relaunches: 1,
  launchedAt: NOW,
};
const STUCK: Refusal = { code: 'candidate-exited', reason: 'It ended.', remedy: 'Look.' };
const barred = transaction({ ...HANDOVER, passage, stuck: STUCK });
const limitMs = NEW.plan.deadlines.warmingMs;
const opened: Effect = { kind: 'open-channel', handle: AGAIN.handle };

const after = (ms: number, tx: TransactionRecord = barred, more: Partial<DeployEvidence> = {}) =>
  decide(
    tx,
    evidence({
      now: laterBy(ms),
      rows: seen(rows(5, 'act-new')),
      answers: answered([opened, 'open']),
      slots: { 'act-again': alive(AGAIN), 'act-old': alive(launchOf(OLD, 'act-old', 11)) },
      ...more,
    }),
  );
const doneBy = (decision: ReturnType<typeof decide>): string =>
  decision.kind === 'act' ? decision.effect.kind : decision.kind;

test('F2, I9: past the fence with the way back barred, each launch has a time of its own for its first word', () => {
  const waiting = after(limitMs - 1);
  assert.ok(waiting.kind === 'wait');
  assert.deepEqual([waiting.untilMs, waiting.wakeAtMs], [NOW.monotonicMs + limitMs, NOW.monotonicMs + limitMs]);

  const ended: Effect = { kind: 'end-process', activation: 'act-again', handle: AGAIN.handle, graceMs: 100 };
  const ending = after(limitMs);
  assert.deepEqual(ending.kind === 'act' && ending.effect, ended);
  const retired: Effect = { kind: 'retire', activation: 'act-again' };
  const gone = answered([ended, { kind: 'gone', proof: 'tree-empty', forced: true }], [retired, 'retired']);
  const next = after(limitMs, barred, { answers: { ...answered([opened, 'open']), ...gone } });
  assert.ok(next.kind === 'persist' && next.state.phase === 'incumbent-fenced');
  assert.deepEqual(next.state.passage.successor.launch, { step: 'issued', id: 'act-fresh' });
  assert.deepEqual(next.state.passage.spent, ['act-new', 'act-again']);
});

test('F2, I6: its time begins as it is made current, and is durable with that', () => {
  const observed = { ...AGAIN, step: 'observed' as const };
  const successor = { subject: NEW.subject, launch: observed };
  const tx = transaction({ ...HANDOVER, passage: { ...passage, successor }, stuck: STUCK });
  const publication: Effect = { kind: 'publish-activation', document: AGAIN.document, observed: AGAIN.observed };
  const current = after(700, tx, { answers: answered([publication, 'published']) });
  assert.ok(current.kind === 'persist' && current.state.phase === 'incumbent-fenced');
  assert.equal(current.state.passage.successor.launch.step, 'current');
  assert.deepEqual(current.state.passage.launchedAt, laterBy(700));
});

test('F2: where the way back is open, a launch without its word is given up before the deadline of its phase', () => {
  const open = transaction({ ...HANDOVER, passage: { ...passage, launchedAt: laterBy(-limitMs) } });
  const asked = after(1, open);
  assert.equal(doneBy(asked), 'autopsy');
  const told: Effect = { kind: 'autopsy', activation: 'act-again', word: null };
  const back = after(1, open, {
    answers: { ...answered([opened, 'open']), ...answered([told, { lines: [], probe: null }]) },
  });
  assert.ok(back.kind === 'persist' && back.state.phase === 'returning');
  assert.equal(back.state.why.code, 'candidate-never-warming');
});

test('F2, I9: on the way back a launch of the incumbent that hangs is ended, and launched anew', () => {
  const again = launchOf(OLD, 'act-back', 14);
  const back: Passage = {
    ...passage,
    direction: 'back',
    successor: { subject: OLD.subject, launch: again },
    predecessors: [],
    move: { from: { epoch: 5, activation: 'act-new' }, to: { epoch: 6, activation: 'act-old' } },
    origin: null,
  };
  const tx = transaction({
    phase: 'returning',
    why: STUCK,
    candidate: { subject: NEW.subject, launch: CANDIDATE, spent: [] },
    passage: back,
    settled: false,
    gone: true,
    stuck: null,
  });
  const slots = { 'act-back': alive(again), 'act-new': alive(CANDIDATE, { process: absent }) };
  assert.notEqual(doneBy(after(limitMs - 1, tx, { slots })), 'end-process');
  assert.equal(doneBy(after(limitMs, tx, { slots })), 'end-process');
});

test('I8: a freeze that stopped the clock stops this one as well', () => {
  const frozen = { ...barred, clock: { ...barred.clock, frozenSince: NOW } };
  assert.equal(doneBy(after(10 * limitMs, frozen, { freeze: seen(FREEZE) })), 'wait');
});

test('I10: while the observer is away nobody is taken for mute, and of another boot no span is known', () => {
  const slots = { 'act-again': alive(AGAIN, { word: unknown('the link is down') }) };
  assert.equal(doneBy(after(10 * limitMs, barred, { slots })), 'wait');
  const before = { ...passage, launchedAt: { ...NOW, bootId: 'boot-0' } };
  const rebooted = transaction({ ...HANDOVER, passage: before, stuck: STUCK });
  assert.equal(doneBy(after(10 * limitMs, rebooted)), 'wait');
});

test('I9: a restart of continuity goes by its own limit alone', () => {
  const restart = transaction(
    { ...HANDOVER, passage: { ...passage, predecessors: [INCUMBENT] } },
    { request: { kind: 'continuity', cause: 'died' } },
  );
  const waiting = after(limitMs, restart);
  assert.equal(waiting.kind === 'wait' && waiting.incident, 'restart-overdue');
});
