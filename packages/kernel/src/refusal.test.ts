import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, isCode } from './catalogue/index.ts';
import { absent, seen, unknown } from './evidence.ts';
import { ok, refusal, refused } from './refusal.ts';

test('a refusal names the catalogue’s remedy unless a more exact one is at hand', () => {
  const plain = refusal('store-full', 'The disk of /state is full.');
  assert.deepEqual(plain, {
    code: 'store-full',
    reason: 'The disk of /state is full.',
    remedy: catalogue['store-full'].remedy,
  });
  const exact = refusal('store-full', 'The disk of /state is full.', { remedy: 'Empty /state/tmp.', detail: [1] });
  assert.deepEqual([exact.remedy, exact.detail], ['Empty /state/tmp.', [1]]);
});

test('an outcome is one or the other, and evidence has three forms', () => {
  assert.deepEqual(ok(1), { ok: true, value: 1 });
  assert.equal(refused(refusal('key-missing', 'There is none.')).ok, false);
  assert.deepEqual([seen(1).kind, absent.kind, unknown('no answer').kind], ['seen', 'absent', 'unknown']);
});

test('a code is known by its own name only', () => {
  assert.ok(isCode('store-full'));
  for (const text of ['', 'toString', '__proto__', 'store-fullish']) assert.ok(!isCode(text));
});
