import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkGolden } from '@idunn/kernel/testing';
import { sampleWorkload } from '@idunn/readiness/testing';
import { memoryStore } from '../testing/world.ts';
import { openBook } from './book.ts';
import { OBSERVER_KINDS } from './records.ts';

test('golden: every record that an observer ever wrote is read', () => {
  for (const { versions } of OBSERVER_KINDS) checkGolden(new URL('../../golden/', import.meta.url), versions);
});

test('a record keyed by a bare target is no record of an incarnation', () => {
  const [incarnations] = OBSERVER_KINDS;
  const { target, expected } = sampleWorkload({ target: 'ghostlight' });
  const bare = { schema: 'idunn.observed-incarnation/v1', target, expected, current: null };
  const read = incarnations?.versions['idunn.observed-incarnation/v1']?.safeParse(bare);
  assert.equal(read?.success, false);
});

test('F28: a book that cannot be written is not opened', async () => {
  const store = memoryStore();
  store.refuse = true;
  await assert.rejects(openBook(store, { fleet: 'aetheria', machine: 'local' }), { code: 'store-write-failed' });
});
