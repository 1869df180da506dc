import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetHealthOf } from './health.ts';
import type { TargetStatus } from './schemas/status.ts';

const AT = '2026-11-30T00:00:00.000Z';
const incarnation = `ghostlight@sha256:${'a'.repeat(64)}`;
const incident = { code: 'workload-died', subject: 'ghostlight', since: AT, detail: 'exit 1', remedy: 'idunn up' };

const running: Omit<TargetStatus, 'health'> = {
  target: 'ghostlight',
  desired: 'up',
  admitted: {
    incarnation,
    release: 'r',
    build: 'b',
    revision: 'c',
    activation: 'act-1',
    processes: [],
    admittedAt: AT,
  },
  incarnations: [
    {
      incarnation,
      role: 'admitted',
      expected: { release: 'r', build: 'b', revision: 'c' },
      activation: 'act-1',
      present: { state: 'active', sequence: 1, observedAt: AT, fresh: true },
      ready: { receipt: 'sha256:1', observedAt: AT },
      disagreements: [],
    },
  ],
  lease: null,
  route: null,
  attended: [],
  static: null,
  rollout: null,
  transaction: null,
  queued: [],
  continuity: { streak: 0, nextAttemptAt: null },
  freezes: [],
  hold: null,
  incidents: [],
};

type Present = NonNullable<TargetStatus['incarnations'][number]['present']>;
const present = (change: Partial<Present> | null): typeof running => ({
  ...running,
  incarnations: running.incarnations.map((one) => ({
    ...one,
    present: change === null || one.present === null ? null : { ...one.present, ...change },
  })),
});

test('I4, I10: healthy needs all three truths; silence is unknown, never healthy and never failed', () => {
  assert.equal(targetHealthOf(running), 'healthy');
  assert.equal(targetHealthOf(present(null)), 'unknown');
  assert.equal(targetHealthOf(present({ fresh: false })), 'unknown');
  assert.equal(targetHealthOf({ ...running, incarnations: [] }), 'unknown');
  assert.equal(
    targetHealthOf({ ...running, incarnations: running.incarnations.map((one) => ({ ...one, ready: null })) }),
    'unknown',
  );
});

test('the workload’s own word decides between degraded and unhealthy', () => {
  assert.equal(targetHealthOf(present({ state: 'degraded' })), 'degraded');
  assert.equal(targetHealthOf(present({ state: 'failed' })), 'unhealthy');
  assert.equal(targetHealthOf({ ...present(null), incidents: [incident] }), 'unhealthy');
  assert.equal(targetHealthOf({ ...running, incidents: [incident] }), 'degraded');
});

test('never-run, down, deploying and waiting are words of their own', () => {
  const nothing = { ...running, admitted: null, incarnations: [] };
  const transaction = { id: 'tx-1', kind: 'deploy', phase: 'sealed', since: AT, waitingOn: null };
  const waitingOn = { what: 'a freeze', since: AT, until: null, remedy: 'idunn freeze clear' };
  assert.equal(targetHealthOf({ ...nothing, desired: 'down' }), 'never-run');
  assert.equal(targetHealthOf(nothing), 'down');
  assert.equal(targetHealthOf({ ...nothing, transaction }), 'deploying');
  assert.equal(targetHealthOf({ ...nothing, transaction: { ...transaction, waitingOn } }), 'waiting');
});
