import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadFiles } from './lib/reach.ts';
import { linesOf, readRepository } from './lib/repository.ts';
import { tidyFaults } from './lib/tidy.ts';

const repository = readRepository();

test('no file does what the house bans, and every exception is needed', () => {
  assert.deepEqual(linesOf(tidyFaults(repository)), []);
});

test('something leads to every file', () => {
  assert.deepEqual(linesOf(deadFiles(repository)), []);
});
