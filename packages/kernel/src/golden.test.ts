import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { keyRecordSchema } from './crypto/keys.ts';
import { chained, EMPTY_HISTORY, following, historyEntrySchema, readEntry } from './store/history.ts';
import { checkGolden } from './testing/golden.ts';

const directory = new URL('../golden/', import.meta.url);

test('a key record of version 1 is read for ever', () => {
  checkGolden(directory, { 'idunn.key/v1': keyRecordSchema });
});

test('a history entry of version 1 is read for ever, and chains to the same digest', () => {
  checkGolden(directory, { 'idunn.history/v1': historyEntrySchema });
  const entry = readEntry(readFileSync(new URL('history-v1.json', directory), 'utf8'), 1);
  assert.deepEqual(chained(EMPTY_HISTORY, entry), entry);
  assert.deepEqual(following(EMPTY_HISTORY, entry), { sequence: 1, digest: entry.digest });
});
