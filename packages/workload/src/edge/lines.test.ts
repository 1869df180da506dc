import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINE_LIMIT_BYTES, LineReader } from './lines.ts';

test('lines come out whole, however the bytes are cut', () => {
  const bytes = Buffer.from('{"a":"ä"}\n{"b":2}\n');
  for (let cut = 0; cut <= bytes.length; cut++) {
    const reader = new LineReader();
    const values = [...(reader.push(bytes.subarray(0, cut)) ?? []), ...(reader.push(bytes.subarray(cut)) ?? [])];
    assert.deepEqual(values, [{ a: 'ä' }, { b: 2 }]);
  }
});

test('a line that is no JSON, or too long even without its end, ends the stream', () => {
  assert.equal(new LineReader().push(Buffer.from('nonsense\n')), null);
  const longest = Buffer.from(`"${'a'.repeat(LINE_LIMIT_BYTES - 2)}"\n`);
  assert.equal(new LineReader().push(longest)?.length, 1);
  assert.equal(new LineReader().push(Buffer.from(`"${'a'.repeat(LINE_LIMIT_BYTES - 1)}"\n`)), null);
  assert.equal(new LineReader().push(Buffer.alloc(LINE_LIMIT_BYTES + 1, 'a')), null);
});
