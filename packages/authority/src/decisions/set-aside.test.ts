import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';
import type { LeaseRows } from '../ports/lease-port.ts';
import type { StopAnswer } from '../ports/workload-port.ts';
import { answered, CANDIDATE, CLAIM, evidence, laterBy, NEW, rows, TARGET, transaction } from '../testing/samples.ts';
import { PLAN_DEADLINE_MS } from './deadline.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Effect } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

const planned: Effect = { kind: 'plan', ref: null };
const end: Effect = { kind: 'end-process', activation: 'act-lost', handle: null, graceMs: NEW.plan.deadlines.stopMs };
const plan = [planned, { plan: NEW.plan, fetchMs: 0 }] as const;
const stopped = (answer: StopAnswer) => ({ answers: answered(plan, [end, answer]) });

const stateless = answered([planned, { plan: { ...NEW.plan, state: null }, fetchMs: 0 }]);

const held: Partial<DeployEvidence> = {
  claim: seen({ ...CLAIM, highestEpoch: 7 }),
  rows: seen(rows(7, 'act-lost')),
  holder: { issued: false, found: unknown('not read') },
  others: seen([]),
  answers: answered(plan),
};
const takeover = (more: Partial<DeployEvidence> = {}, confirm = 'act-lost'): Decision =>
  decide(transaction({ phase: 'planned' }, { request: { kind: 'takeover', confirm } }), evidence({ ...held, ...more }));

function refused(decision: Decision): string | undefined {
  assert.ok(decision.kind === 'persist' && decision.leaves === 'end');
  assert.deepEqual([decision.result?.outcome, decision.extra, decision.target], ['rejected', undefined, undefined]);
  return decision.result?.refusal?.code;
}

test('I1: an unknown holder of the lease is set aside once every process of it was ended and seen gone', () => {
  const first = takeover();
  assert.deepEqual(first.kind === 'act' ? first.effect : first, end);
  const done = takeover(stopped({ kind: 'gone', proof: 'tree-empty', forced: false }));
  assert.ok(done.kind === 'persist' && done.leaves === 'end');
  assert.equal(done.result?.outcome, 'done');
  const [record] = done.extra ?? [];
  assert.ok(record?.kind === 'set-aside' && record.value !== null);
  assert.deepEqual([record.id, record.value.epoch, record.value.actor], ['act-lost', 7, 'ada']);
  assert.equal(done.target, undefined, 'the row is moved by whoever takes it next');
});

test('I1, I10: what is not seen gone holds the lease on, and at the deadline nothing has changed', () => {
  for (const answer of [{ kind: 'parent-gone' }, { kind: 'unknown', because: 'no hierarchy' }] as const) {
    const waiting = takeover(stopped(answer));
    assert.ok(waiting.kind === 'wait' && waiting.incident === 'fence-not-proven');
    assert.equal(refused(takeover({ ...stopped(answer), now: laterBy(PLAN_DEADLINE_MS) })), 'fence-not-proven');
  }
});

test('F21: a takeover that names somebody else, or has nobody to set aside, is refused and ends nothing', () => {
  assert.equal(refused(takeover({}, 'act-other')), 'takeover-not-confirmed');
  const nobody: readonly (readonly [string, Partial<DeployEvidence>])[] = [
    ['the row names nobody', { rows: seen(rows(7, null)) }],
    ['there are no rows', { rows: absent }],
    ['it is admitted', { rows: seen(rows(4, 'act-old')) }],
    ['it is ours, and over', { holder: { issued: true, found: absent } }],
    [
      'a restart of continuity launched it, and goes on',
      {
        holder: { issued: true, found: seen(CANDIDATE.handle) },
        target: { ...TARGET, takenBy: 'tx-0', restart: 'tx-0' },
      },
    ],
  ];
  for (const [why, more] of nobody) assert.equal(refused(takeover(more)), 'nothing-to-take-over', why);
  assert.equal(refused(takeover({ answers: stateless })), 'nothing-to-take-over');
});

test('I1, I9: what runs and no record stands for is set aside by its name, with or without state', () => {
  const others = seen([{ activation: 'act-lost', pid: 7 }]);
  for (const { answers, read } of [
    { answers: answered(plan), read: seen(rows(4, 'act-old')) },
    { answers: stateless, read: unknown('not read') },
  ]) {
    const free = { rows: read, others, answers };
    const first = takeover(free);
    assert.deepEqual(first.kind === 'act' ? first.effect : first, end);
    assert.equal(refused(takeover(free, 'act-other')), 'takeover-not-confirmed');
    const gone = { ...answers, ...answered([end, { kind: 'gone', proof: 'tree-empty', forced: false }]) };
    const done = takeover({ ...free, others: seen([]), answers: gone });
    assert.ok(done.kind === 'persist' && done.result?.outcome === 'done', 'and seen gone by now');
    const [record] = done.extra ?? [];
    assert.ok(record?.kind === 'set-aside' && record.value?.epoch === null);
  }
  const blind = takeover({ rows: seen(rows(4, 'act-old')), others: unknown('no answer') });
  assert.equal(blind.kind, 'wait', 'I10');
});

test('I9: a restart that is held up by an unknown holder is no reason to leave that where it is', () => {
  const behind = takeover({ target: { ...TARGET, takenBy: 'tx-0', restart: 'tx-0' } });
  assert.equal(behind.kind === 'act' ? behind.effect.kind : behind.kind, 'end-process');
});

test('I10: rows that cannot be read name nobody who could be ended', () => {
  const unread: Evidence<LeaseRows> = unknown('the disk is busy');
  const waiting = takeover({ rows: unread });
  assert.ok(waiting.kind === 'wait' && waiting.incident === 'lease-row-unreadable');
  assert.equal(refused(takeover({ rows: unread, now: laterBy(PLAN_DEADLINE_MS) })), 'lease-row-unreadable');
});
