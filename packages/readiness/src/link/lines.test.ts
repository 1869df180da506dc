import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { lineReader, lineSplitter } from './lines.ts';

test('lines come out whole, however the stream was cut', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\n', ' '));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const splitter = lineSplitter();
      const got: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        const pushed = splitter.push(bytes.subarray(at, at + size));
        got.push(...(pushed === 'too-long' ? [pushed] : pushed));
        at += size;
      }
      assert.deepEqual(got, lines);
    }),
  );
});

test('a line over the limit is refused, finished or not', () => {
  assert.deepEqual(lineSplitter(4).push(Buffer.from('1234\n')), ['1234']);
  assert.equal(lineSplitter(4).push(Buffer.from('12345\n')), 'too-long');
  const splitter = lineSplitter(4);
  assert.deepEqual(splitter.push(Buffer.from('123')), []);
  assert.equal(splitter.push(Buffer.from('45')), 'too-long');
});

test('what is no line of the protocol ends the connection, after the lines before it', () => {
  for (const odd of ['{', '[]', '{"envelope":{}}', '{"type":1}', 'null']) {
    const taken: string[] = [];
    const read = lineReader((type) => taken.push(type));
    assert.ok(read(Buffer.from('{"type":"presence","envelope":{}}\n')));
    assert.ok(!read(Buffer.from(`${odd}\n`)), odd);
    assert.deepEqual(taken, ['presence']);
  }
});
