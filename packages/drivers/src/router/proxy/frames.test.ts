import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, boolean, assert as check, constantFrom, nat, property, record } from 'fast-check';
import { Frames } from './frames.ts';

/** A frame with a payload of so many bytes; its bytes are such that a payload read as a header would mislead. */
function frame(opcode: number, bytes: number, masked: boolean): Buffer {
  const mask = masked ? 0x80 : 0;
  const long = bytes > 65_535 ? 127 : bytes > 125 ? 126 : bytes;
  const head = Buffer.from([0x80 | opcode, mask | long]);
  const length = Buffer.alloc(long === 127 ? 8 : long === 126 ? 2 : 0);
  if (long === 127) length.writeBigUInt64BE(BigInt(bytes));
  else if (long === 126) length.writeUInt16BE(bytes);
  return Buffer.concat([head, length, Buffer.alloc(masked ? 4 : 0, 0x88), Buffer.alloc(bytes, 0x88)]);
}

test('frames end where they end, however the bytes are cut', () => {
  const sizes = constantFrom(0, 1, 125, 126, 127, 65_535, 65_536);
  const oneFrame = record({ opcode: constantFrom(0, 1, 2, 9, 10), bytes: sizes, masked: boolean() });
  check(
    property(array(oneFrame, { minLength: 1, maxLength: 5 }), array(nat(9_000), { maxLength: 40 }), (list, cuts) => {
      const whole = list.map(({ opcode, bytes, masked }) => frame(opcode, bytes, masked));
      const ends = new Set<number>();
      for (let sum = 0, index = 0; index < whole.length; index++) ends.add((sum += whole[index]?.length ?? 0));
      const bytes = Buffer.concat(whole);
      const frames = new Frames();
      const seen = new Set<number>();
      let at = 0;
      for (const cut of [...cuts.map((size) => size + 1), bytes.length]) {
        const chunk = bytes.subarray(at, at + cut);
        for (let place = 0; place < chunk.length; ) {
          place = frames.walk(chunk, place);
          if (frames.between) seen.add(at + place);
        }
        at += chunk.length;
      }
      assert.deepEqual([...seen], [...ends]);
      assert.ok(frames.between && !frames.closing);
    }),
    { numRuns: 60 },
  );
});

test('a close frame is seen when it begins', () => {
  const frames = new Frames();
  frames.walk(Buffer.from([0x88, 2, 3]), 0);
  assert.ok(frames.closing && !frames.between);
});
