import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFault } from './faults.ts';

const failed = (errcode: number): Error => Object.assign(new Error(`result ${errcode}`), { errcode });

test('I10: a disk that lets nothing be written or opened says nothing of the records, and none are put back', () => {
  const [permission, readOnly, readOnlyDirectory, write, open, full] = [3, 8, 1_544, 778, 14, 13];
  for (const code of [permission, readOnly, readOnlyDirectory, write, open]) {
    assert.equal(openFault(failed(code)).code, 'store-write-failed', `${code}`);
  }
  assert.equal(openFault(failed(full)).code, 'store-full');
  const [corrupt, noDatabase] = [11, 26];
  for (const code of [corrupt, noDatabase]) assert.equal(openFault(failed(code)).code, 'store-unreadable', `${code}`);
});
