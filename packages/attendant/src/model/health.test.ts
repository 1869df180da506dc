import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type Health, healthOf, judge, stateOf, type Verdict } from './health.ts';

const THRESHOLDS = { successes: 2, failures: 3 };
const after = (from: Verdict, readings: string, thresholds = THRESHOLDS): Health =>
  readings.split('').reduce<Health>((health, reading) => judge(health, reading === '+', thresholds), healthOf(from));

test('F11: a verdict takes as many readings of one kind in a row as the contract says, and one bad one is none', () => {
  const table: readonly [Verdict, string, Verdict][] = [
    ['unproven', '+', 'unproven'],
    ['unproven', '++', 'good'],
    ['unproven', '+-+', 'unproven'],
    ['unproven', '-----', 'unproven'],
    ['good', '-', 'good'],
    ['good', '--+--', 'good'],
    ['good', '---', 'bad'],
    ['bad', '+', 'bad'],
    ['bad', '+-+', 'bad'],
    ['bad', '++', 'good'],
  ];
  for (const [from, readings, verdict] of table) {
    assert.equal(after(from, readings).verdict, verdict, `${from} ${readings}`);
  }
});

test('F11: whatever is read, a verdict that changes is the one of the last readings in a row', () => {
  const thresholds = fc.record({ successes: fc.integer({ min: 1, max: 5 }), failures: fc.integer({ min: 2, max: 5 }) });
  fc.assert(
    fc.property(thresholds, fc.array(fc.boolean(), { maxLength: 40 }), (limits, readings) => {
      let health = healthOf('unproven');
      for (const [index, good] of readings.entries()) {
        const before = health.verdict;
        health = judge(health, good, limits);
        if (health.verdict === before) continue;
        const wanted = health.verdict === 'good';
        const needed = wanted ? limits.successes : limits.failures;
        assert.deepEqual(readings.slice(index + 1 - needed, index + 1), Array(needed).fill(wanted));
      }
    }),
  );
});

test('I7: without state nothing is signed before a program is proven; with state it warms until its grant', () => {
  const without = { stateful: false, epoch: null };
  assert.equal(stateOf(healthOf('unproven'), without), null);
  assert.equal(stateOf(healthOf('good'), without), 'active');
  assert.equal(stateOf(healthOf('bad'), without), 'degraded');
  for (const verdict of ['unproven', 'good', 'bad'] as const) {
    assert.equal(stateOf(healthOf(verdict), { stateful: true, epoch: null }), 'warming');
  }
  assert.equal(stateOf(healthOf('unproven'), { stateful: true, epoch: 7 }), 'warming');
  assert.equal(stateOf(healthOf('good'), { stateful: true, epoch: 7 }), 'active');
});
