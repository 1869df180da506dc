import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordValue } from '@idunn/kernel';
import { checkGolden } from '@idunn/kernel/testing';
import { audience, sampleWorkload } from '@idunn/readiness/testing';
import { memoryStore } from '../testing/world.ts';
import { openBook } from './book.ts';
import { OBSERVER_KINDS } from './records.ts';

test('golden: every record that an observer ever wrote is read', () => {
  for (const { versions } of OBSERVER_KINDS) checkGolden(new URL('../../golden/', import.meta.url), versions);
});

test('a record keyed by a bare target, or by any key but its own, is never read', async () => {
  const { key, expected } = sampleWorkload({ target: 'ghostlight' });
  const other = sampleWorkload({ target: 'ghostlight', revision: 'r2' });
  const record = {
    schema: 'idunn.observed-incarnation/v1',
    expected,
    current: null,
    spent: [],
  } as unknown as RecordValue;
  const records = new Map(['ghostlight', other.key, key].map((id) => [`incarnation/${id}`, record]));
  const book = await openBook(memoryStore(records), audience);
  assert.deepEqual(
    [...book.incarnations()].map(([id]) => id),
    [key],
  );
});

test('F28: a book that cannot be written is not opened', async () => {
  const store = memoryStore();
  store.refuse = true;
  await assert.rejects(openBook(store, audience), { code: 'store-write-failed' });
});
