import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Clock, digestBytes, systemClock } from '@idunn/kernel';
import { createDigestMemo } from './digest-memo.ts';
import { digestFile } from './files.ts';

test('F13: a settled file is read once, and any change of content or times is read again', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'idunn-memo-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  const path = join(root, 'file');
  await writeFile(path, 'one');
  const later: Clock = { ...systemClock(), wallMs: () => systemClock().wallMs() + 60_000 };
  let reads = 0;
  const memo = createDigestMemo(later, (file) => {
    reads += 1;
    return digestFile(file);
  });
  for (let n = 0; n < 3; n++) assert.equal(await memo.digest(path), digestBytes('one'));
  assert.equal(reads, 1);
  await utimes(path, 0, 0);
  assert.equal(await memo.digest(path), digestBytes('one'));
  // Same size, and times put back as far as a program can put them.
  await writeFile(path, 'two');
  await utimes(path, 0, 0);
  assert.equal(await memo.digest(path), digestBytes('two'));
  await appendFile(path, 'x');
  assert.equal(await memo.digest(path), digestBytes('twox'));
});

test('a file that changed a moment ago is not remembered: it could change again within one tick', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'idunn-memo-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  const path = join(root, 'file');
  let reads = 0;
  const memo = createDigestMemo(systemClock(), (file) => {
    reads += 1;
    return digestFile(file);
  });
  await writeFile(path, 'a');
  for (let n = 0; n < 2; n++) assert.equal(await memo.digest(path), digestBytes('a'));
  assert.equal(reads, 2);
});
