import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { repeatDelayMs } from './together.ts';

test('a long period ends at a moment that all programs share, less than five seconds early and never late', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e10, noNaN: true }), fc.integer({ min: 50_000 }), (nowMs, everyMs) => {
      const delayMs = repeatDelayMs(nowMs, everyMs);
      assert.ok(delayMs <= everyMs && delayMs > everyMs - 5_000, `${delayMs}`);
      assert.ok((nowMs + delayMs) % 5_000 < 1 + 1e-3, `${nowMs + delayMs}`);
    }),
  );
});

test('a short period is kept as it is', () => {
  assert.deepEqual(
    [1, 20, 49_999].map((everyMs) => repeatDelayMs(12_345.6, everyMs)),
    [1, 20, 49_999],
  );
});
