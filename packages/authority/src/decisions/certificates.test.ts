import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateIncidents } from './certificates.ts';

const DAY_MS = 24 * 60 * 60_000;
const days = (spanDays: number, leftDays: number, problem: string | null = null) =>
  certificateIncidents(
    [{ file: '/c.pem', names: [], validFromMs: 0, expiresAtMs: spanDays * DAY_MS, problem }],
    (spanDays - leftDays) * DAY_MS,
  ).map(({ code }) => code);

test('a certificate’s end is an incident from 21 days before it, of a short one from its last quarter', () => {
  assert.deepEqual([days(90, 22), days(90, 21)], [[], ['route-certificate-expiring']]);
  assert.deepEqual([days(8, 3), days(8, 2)], [[], ['route-certificate-expiring']]);
  assert.deepEqual(days(90, -1), ['route-certificate-expiring']);
});

test('F26: files that cannot be served are an incident of their own, while the pair before them serves', () => {
  assert.deepEqual(days(90, 60, 'no key'), ['route-certificate-unusable']);
  assert.deepEqual(days(90, 1, 'no key'), ['route-certificate-unusable', 'route-certificate-expiring']);
  const never = [{ file: '/c.pem', names: [], validFromMs: null, expiresAtMs: null, problem: 'gone' }];
  assert.deepEqual(certificateIncidents(never, 0), [{ code: 'route-certificate-unusable', detail: 'gone' }]);
});
