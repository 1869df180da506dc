import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../testing/samples.ts';
import { readRows } from './rows.ts';

const move = { from: { epoch: 4, activation: 'a' }, to: { epoch: 5, activation: 'b' } };
const two = (one: ReturnType<typeof rows>, other: ReturnType<typeof rows>) => ({
  ...one,
  second: Object.values(other)[0] ?? never(),
});
const never = (): never => {
  throw new Error('a sample has a row');
};

test('rows that agree say who writes', () => {
  assert.deepEqual(readRows(rows(4, 'a'), move), { kind: 'uniform', standing: { epoch: 4, activation: 'a' } });
  assert.deepEqual(readRows(rows(5, 'b'), move), { kind: 'uniform', standing: { epoch: 5, activation: 'b' } });
});

test('I1: a move that was torn between two stores goes on, from either half', () => {
  assert.equal(readRows(two(rows(5, null), rows(4, 'a')), move).kind, 'moving');
  assert.equal(readRows(two(rows(5, null), rows(5, null)), move).kind, 'moving');
  assert.equal(readRows(two(rows(5, 'b'), rows(5, null)), move).kind, 'moving');
});

test('I1: rows that no move of ours explains grant nothing', () => {
  assert.equal(readRows(two(rows(5, 'b'), rows(4, 'c')), move).kind, 'differing');
  assert.equal(readRows(two(rows(4, 'a'), rows(6, null)), null).kind, 'differing');
  assert.equal(readRows({}, null).kind, 'differing');
});
