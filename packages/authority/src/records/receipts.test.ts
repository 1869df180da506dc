import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isPastKeeping, noReceipts, RECEIPT_LIMIT, withReceipt } from './receipts.ts';

const id = (sequence: number): string => `op-${String(sequence).padStart(6, '0')}`;

test('I12: receipts are finite, and an id that was let go, or may have been, is never taken for a new one', () => {
  const order = fc.uniqueArray(fc.nat(2_000), { minLength: RECEIPT_LIMIT, maxLength: RECEIPT_LIMIT * 2 });
  fc.assert(
    fc.property(order, (sequences) => {
      let receipts = noReceipts('app');
      const run = new Set<string>();
      for (const operation of sequences.map(id)) {
        if (isPastKeeping(receipts, operation)) continue;
        run.add(operation);
        receipts = withReceipt(receipts, operation).next;
        assert.ok(receipts.kept.length <= RECEIPT_LIMIT);
      }
      for (const operation of run) {
        assert.ok(receipts.kept.includes(operation) || isPastKeeping(receipts, operation), operation);
      }
    }),
    { numRuns: 50 },
  );
});

test('ids that rise are always new, however many went before', () => {
  let receipts = noReceipts('app');
  for (let sequence = 0; sequence < RECEIPT_LIMIT * 3; sequence += 1) {
    assert.ok(!isPastKeeping(receipts, id(sequence)));
    const { next, dropped } = withReceipt(receipts, id(sequence));
    assert.equal(dropped, sequence < RECEIPT_LIMIT ? null : id(sequence - RECEIPT_LIMIT));
    receipts = next;
  }
});
