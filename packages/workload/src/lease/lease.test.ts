import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type Lease, NO_LEASE, onGrant, onRelinquish, onRowRefused, onStillNamed, writingEpoch } from './lease.ts';

const writing = (epoch: number): Lease => ({ kind: 'writing', epoch });
const aside = (epoch: number): Lease => ({ kind: 'relinquished', epoch, by: 'r', termEndsAtMs: null });

test('I5: a grant counts only above what was held or refused', () => {
  assert.deepEqual(onGrant(NO_LEASE, 1), { kind: 'take', next: writing(1) });
  assert.deepEqual(onGrant(writing(3), 3), { kind: 'repeat' });
  assert.deepEqual(onGrant(writing(3), 2), { kind: 'stale', floor: 3 });
  assert.deepEqual(onGrant(aside(3), 3), { kind: 'resume' });
  assert.deepEqual(onGrant(aside(3), 4), { kind: 'take', next: writing(4) });
  assert.deepEqual(onGrant(onRowRefused(writing(3), 3), 3), { kind: 'stale', floor: 3 });
});

test('a relinquish of what is not held changes nothing', () => {
  const request = { epoch: 2, by: 'r', termEndsAtMs: null };
  assert.deepEqual(onRelinquish(writing(2), request), { kind: 'relinquished', ...request });
  assert.deepEqual(onRelinquish(writing(3), request), writing(3));
  assert.deepEqual(onRelinquish(NO_LEASE, request), NO_LEASE);
});

test('I1: whatever comes in whatever order, an epoch that the row refused is never written under again', () => {
  const event = fc.record({
    kind: fc.constantFrom('grant', 'relinquish', 'refused', 'named'),
    epoch: fc.integer({ min: 1, max: 6 }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      let lease: Lease = NO_LEASE;
      let refused = 0;
      for (const { kind, epoch } of events) {
        if (kind === 'grant') {
          const answer = onGrant(lease, epoch);
          if (answer.kind === 'take') lease = answer.next;
        } else if (kind === 'relinquish') {
          lease = onRelinquish(lease, { epoch, by: 'r', termEndsAtMs: null });
        } else if (kind === 'named') {
          lease = onStillNamed(lease);
        } else {
          const current = writingEpoch(lease); // Only an epoch that is written under can be refused.
          if (current !== null) {
            refused = Math.max(refused, current);
            lease = onRowRefused(lease, current);
          }
        }
        assert.ok((writingEpoch(lease) ?? Number.MAX_SAFE_INTEGER) > refused);
      }
    }),
  );
});
