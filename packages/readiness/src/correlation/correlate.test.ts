import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestJson } from '@idunn/kernel';
import * as fc from 'fast-check';
import { incarnationKey } from '../model/derive-expected.ts';
import type { Activation, ObservedRuntime } from '../model/expected.ts';
import type { DisagreementCode, Presence } from '../model/presence.ts';
import { activation, expected, key, observed, sampleExpected, samplePresence } from '../testing/samples.ts';
import { type CorrelationInput, correlate } from './correlate.ts';

const heard = (presence: Presence, receivedAtMs = 1_000) => ({ presence, digest: digestJson(presence), receivedAtMs });

const agreed: CorrelationInput = {
  key,
  expected,
  activation,
  observed,
  presence: heard(samplePresence()),
  nowMs: 1_000,
};

test('I4: when every source agrees and the presence is active, fresh and under an epoch, it is Ready', () => {
  const { present, disagreements, obstacles } = correlate(agreed);
  assert.deepEqual({ disagreements, obstacles }, { disagreements: [], obstacles: [] });
  assert.deepEqual(present, {
    activation: 'activation-1',
    state: 'active',
    epoch: 7,
    sequence: 1,
    digest: digestJson(samplePresence()),
    fresh: true,
  });
});

test('I4, I10: what is missing is named, and never filled in by another source', () => {
  const rows: [Partial<CorrelationInput>, string][] = [
    [{ activation: null }, 'not-activated'],
    [{ observed: null }, 'not-observed'],
    [{ presence: null }, 'not-present'],
  ];
  for (const [changes, obstacle] of rows) {
    const { present, obstacles } = correlate({ ...agreed, ...changes });
    assert.equal(present, null);
    assert.deepEqual(obstacles, [obstacle]);
  }
});

test('I5: the presence of another activation does not establish this one', () => {
  const presence = heard(samplePresence({ activation: 'activation-0' }));
  assert.deepEqual(correlate({ ...agreed, presence }).obstacles, ['not-present']);
});

test('only active is Ready: warming, degraded and failed are not', () => {
  for (const state of ['warming', 'degraded', 'failed'] as const) {
    const correlated = correlate({ ...agreed, presence: heard(samplePresence({ state })) });
    assert.deepEqual(correlated.obstacles, ['not-active']);
    assert.equal(correlated.present?.state, state);
  }
});

test('I2: a launcher at its gate is no disagreement and never Ready; the program behind it is judged', () => {
  const launcher = { ...observed, executable: digestJson('a launcher'), entry: null };
  const waiting = correlate({ ...agreed, observed: { ...launcher, gate: 'waiting' } });
  assert.deepEqual([waiting.obstacles, waiting.disagreements], [['at-its-gate'], []]);
  assert.equal(waiting.present?.state, 'active');
  assert.deepEqual(correlate({ ...agreed, observed: launcher }).obstacles, ['disagreement']);
});

test('I3: with state expected, Ready names an epoch', () => {
  const correlated = correlate({ ...agreed, presence: heard(samplePresence({ epoch: null })) });
  assert.deepEqual(correlated.obstacles, ['no-epoch']);
});

test('without state no epoch is needed, and one that is named disagrees', () => {
  const stateless = sampleExpected({ state: null });
  const statelessKey = incarnationKey(stateless);
  const base = {
    ...agreed,
    expected: stateless,
    key: statelessKey,
    activation: { ...activation, incarnation: statelessKey },
  };
  const say = (epoch: number | null) => heard(samplePresence({ incarnation: statelessKey, stateSchema: null, epoch }));
  assert.deepEqual(correlate({ ...base, presence: say(null) }).obstacles, []);
  const claimed = correlate({ ...base, presence: say(3) });
  assert.deepEqual(
    claimed.disagreements.map(({ code }) => code),
    ['schema-mismatch'],
  );
});

test('I5: a presence older than the contract allows is stale, and shown so', () => {
  const correlated = correlate({ ...agreed, nowMs: 1_000 + expected.health.freshnessMs + 1 });
  assert.deepEqual(correlated.obstacles, ['stale']);
  assert.equal(correlated.present?.fresh, false);
});

const other = digestJson('another');

test('I4: each disagreement has its code, is shown beside what is present, and blocks Ready', () => {
  const saying = (changes: Partial<Omit<Presence, 'header'>>) => ({ presence: heard(samplePresence(changes)) });
  const activated = (changes: Partial<Activation>) => ({ activation: { ...activation, ...changes } });
  const running = (changes: Partial<ObservedRuntime>) => ({ observed: { ...observed, ...changes } });
  const foreign = `ghostlight@${other}` as const;
  const rows: [DisagreementCode, Partial<CorrelationInput>][] = [
    ['incarnation-mismatch', saying({ incarnation: foreign })],
    ['incarnation-mismatch', saying({ target: 'almanac' })],
    ['incarnation-mismatch', activated({ incarnation: foreign })],
    ['incarnation-mismatch', activated({ target: 'almanac' })],
    ['runtime-identity-mismatch', saying({ pid: 4712 })],
    ['executable-mismatch', running({ executable: other })],
    ['executable-mismatch', running({ entry: { device: '8:1', inode: '77', digest: other } })],
    ['executable-mismatch', running({ entry: null })],
    ['endpoint-mismatch', saying({ endpoint: { host: '127.0.0.1', port: 4102 } })],
    ['endpoint-mismatch', saying({ endpoint: null })],
    ['endpoint-mismatch', { ...activated({ endpoint: null }), presence: heard(samplePresence({ endpoint: null })) }],
    [
      'endpoint-mismatch',
      {
        ...activated({ endpoint: { host: '127.0.0.1', port: 5000 } }),
        presence: heard(samplePresence({ endpoint: { host: '127.0.0.1', port: 5000 } })),
      },
    ],
    ['schema-mismatch', saying({ stateSchema: 'ghostlight.journal/v2' })],
    ['schema-mismatch', saying({ stateSchema: null })],
    ['capability-mismatch', saying({ capabilities: [] })],
    [
      'capability-mismatch',
      saying({ capabilities: [...expected.capabilities, { name: 'admin', schema: 'ghostlight.admin/v1' }] }),
    ],
  ];
  for (const [code, changes] of rows) {
    const correlated = correlate({ ...agreed, ...changes });
    assert.deepEqual(
      correlated.disagreements.map((found) => found.code),
      [code],
    );
    assert.deepEqual(correlated.obstacles, ['disagreement']);
    assert.notEqual(correlated.present, null);
  }
});

test('I4, I5: Ready is exactly the conjunction of its rules', () => {
  const inputs = fc.record({
    state: fc.constantFrom('warming', 'active', 'degraded', 'failed'),
    epoch: fc.option(fc.integer({ min: 1, max: 9 })),
    pid: fc.constantFrom(4711, 4712),
    ageMs: fc.integer({ min: -10, max: expected.health.freshnessMs * 2 }),
    current: fc.constantFrom('activation-1', 'activation-2'),
    isObserved: fc.boolean(),
  });
  fc.assert(
    fc.property(inputs, ({ state, epoch, pid, ageMs, current, isObserved }) => {
      const { obstacles, present } = correlate({
        ...agreed,
        activation: { ...activation, activation: current },
        observed: isObserved ? observed : null,
        presence: heard(samplePresence({ state, epoch, pid })),
        nowMs: 1_000 + ageMs,
      });
      const ours = current === 'activation-1' && isObserved;
      const fresh = ageMs >= 0 && ageMs <= expected.health.freshnessMs;
      assert.equal(obstacles.length === 0, ours && fresh && state === 'active' && epoch !== null && pid === 4711);
      assert.equal(present !== null, ours);
    }),
  );
});
