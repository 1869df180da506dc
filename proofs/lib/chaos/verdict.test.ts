import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeNotes } from './verdict.ts';

const told = (words: string) => words.split(' ').map((word) => ({ writer: word.slice(0, 1), id: word.slice(1) }));
const acked = [{ id: '1' }, { id: '2' }, { id: '3' }];

test('whole: each acknowledged note once, each writer before the next', () => {
  const verdict = judgeNotes(told('a1 a2 b3 b4 c5'), acked);
  assert.deepEqual(verdict, { notes: 5, writers: 3, lost: 0, doubled: 0, late: 0, garbage: 0 });
});

test('what is missing, twice there, written late or by a spoilt build is seen', () => {
  assert.equal(judgeNotes(told('a1 b3'), acked).lost, 1);
  assert.equal(judgeNotes(told('a1 a2 b2 b3'), acked).doubled, 1);
  assert.equal(judgeNotes(told('a1 b2 a3 b4'), acked).late, 1, 'I1');
  assert.equal(judgeNotes(told('a1 b2 a3 a4 c5 b6'), acked).late, 3);
  assert.equal(judgeNotes([{ id: 'garbage-7', writer: 'garbage' }], []).garbage, 1);
});
