import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { EventStreamParser } from './event-stream.ts';

const STREAM =
  ': a comment\n\nid: 1\ndata: one\n\nevent: snapshot\ndata: a\ndata: b\n\nid: 2\r\ndata:two\r\n\r\ndata: unfinished';

test('messages come out whole, wherever the chunks are cut', () => {
  const whole = new EventStreamParser().push(STREAM);
  assert.deepEqual(whole, [
    { id: '1', event: 'message', data: 'one' },
    { id: null, event: 'snapshot', data: 'a\nb' },
    { id: '2', event: 'message', data: 'two' },
  ]);
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length)), (cuts) => {
      const parser = new EventStreamParser();
      const borders = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length];
      const messages = borders.slice(1).flatMap((end, index) => parser.push(STREAM.slice(borders[index], end)));
      assert.deepEqual(messages, whole);
    }),
  );
});

test('an endless message is refused', () => {
  assert.throws(() => new EventStreamParser().push(`data: ${'x'.repeat(1024 * 1024)}`), RangeError);
});
