import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cycleFaults, importFaults, manifestFaults, ROOMS } from './lib/imports.ts';
import { linesOf, readRepository } from './lib/repository.ts';

const repository = readRepository();

test('every import is one that the house allows', () => {
  assert.deepEqual(linesOf(importFaults(repository)), []);
});

test('packages, and the files of each package, import in no circle', () => {
  assert.deepEqual(linesOf(cycleFaults(repository)), []);
});

test('each manifest names exactly what its package imports', () => {
  assert.deepEqual(linesOf(manifestFaults(repository)), []);
});

test('every package is in the table', () => {
  assert.deepEqual(
    [...repository.rooms.keys()].filter((room) => !(room in ROOMS)),
    [],
  );
});
