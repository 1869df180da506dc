import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { redactorFor, rotateIfLarge, tailOf } from './log-file.ts';
import { forgetOldLogs, KEPT_LOGS } from './log-retention.ts';
import { Bench } from './testing/bench.ts';
import { logged } from './testing/logs.ts';

test('F30: a printed secret is in no tail, and leaves the log when the activation is retired', async (t) => {
  const bench = new Bench(t);
  const launch = bench.launch('leaky', { secrets: [{ name: 'token', file: join(bench.root, 'token') }] });
  const handle = await bench.start(launch);
  const log = bench.driver.logPath('game', handle.activation);
  await logged(log, /env .*\n/);
  assert.match(readFileSync(log, 'utf8'), /hunter2/);
  const tail = await bench.driver.logTail('game', handle.activation, 10);
  assert.equal(tail[0], 'token=[secret token]');
  assert.doesNotMatch(tail.join('\n'), /hunter2/);
  assert.doesNotMatch(await bench.driver.redact(handle.activation, 'x hunter2-and-more y'), /hunter2/);
  // Neither argv nor environment of the process ever held it.
  for (const file of ['cmdline', 'environ']) {
    assert.doesNotMatch(readFileSync(`/proc/${handle.identity.pid}/${file}`, 'utf8'), /hunter2/);
  }
  await bench.driver.stop(handle, 20_000);
  await bench.driver.retire('game', handle.activation);
  assert.match(readFileSync(log, 'utf8'), /token=\[secret token\]/);
  assert.doesNotMatch(readFileSync(log, 'utf8'), /hunter2/);
});

test('F7: the last lines of a program that died at once are there', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.launch('dying'));
  bench.driver.watch(handle);
  await bench.death(handle.activation);
  assert.deepEqual(await bench.driver.logTail('game', handle.activation, 5), ['cannot go on']);
});

test('a busy log is kept within its size and its number of files', async (t) => {
  const bench = new Bench(t, { logLookMs: 2 });
  const limits = { memoryBytes: null, processes: null, openFiles: null, logBytes: 50_000, logFiles: 3 };
  const handle = await bench.start(bench.launch('chatty', { limits }));
  const log = bench.driver.logPath('game', handle.activation);
  bench.driver.watch(handle);
  await logged(`${log}.2`, /./);
  await bench.driver.stop(handle, 20_000);
  assert.throws(() => statSync(`${log}.3`), /ENOENT/);
  assert.match(readFileSync(log, 'utf8') + readFileSync(`${log}.1`, 'utf8'), /y\n$/m);
});

test('rotation loses no line of what was there, and the last lines reach over it', async (t) => {
  const bench = new Bench(t);
  const log = join(bench.root, 'some.log');
  writeFileSync(log, 'one\ntwo\n');
  rotateIfLarge(log, { bytes: 100, files: 2 });
  assert.equal(statSync(log).size, 8);
  rotateIfLarge(log, { bytes: 4, files: 2 });
  assert.equal(readFileSync(`${log}.1`, 'utf8'), 'one\ntwo\n');
  writeFileSync(log, 'three\n');
  const redactor = await redactorFor(join(bench.root, 'none'));
  assert.deepEqual(await tailOf(log, 2, redactor), ['two', 'three']);
  rotateIfLarge(log, { bytes: 4, files: 1 });
  assert.equal(statSync(log).size, 0);
});

test('of a flood between two looks the last whole lines are kept, and nothing of a line without an end', async (t) => {
  const bench = new Bench(t);
  const log = join(bench.root, 'some.log');
  writeFileSync(log, `${'x'.repeat(1_000)}\n`.repeat(1_000));
  rotateIfLarge(log, { bytes: 10_000, files: 2 });
  assert.equal(statSync(log).size, 0);
  const kept = readFileSync(`${log}.1`, 'utf8');
  assert.equal(kept, `${'x'.repeat(1_000)}\n`.repeat(9));
  writeFileSync(log, 'hunter2'.repeat(100_000));
  rotateIfLarge(log, { bytes: 10_000, files: 3 });
  assert.equal(statSync(log).size, 0);
  assert.throws(() => statSync(`${log}.1`), /ENOENT/);
  assert.equal(readFileSync(`${log}.2`, 'utf8'), kept);
});

test('a flood of a program’s last moments does not outlive it', async (t) => {
  const bench = new Bench(t);
  const limits = { memoryBytes: null, processes: null, openFiles: null, logBytes: 50_000, logFiles: 3 };
  const handle = await bench.start(bench.launch('dying', { limits }));
  const log = bench.driver.logPath('game', handle.activation);
  bench.driver.watch(handle);
  await bench.death(handle.activation);
  writeFileSync(log, `${'x'.repeat(1_000)}\n`.repeat(1_000));
  await bench.driver.retire('game', handle.activation);
  const bytes = [log, `${log}.1`].map((file) => statSync(file).size).reduce((sum, size) => sum + size);
  assert.ok(bytes <= 100_000, `${bytes}`);
});

test('F1: of the logs of ended activations the newest are kept, of living ones all', async (t) => {
  const bench = new Bench(t);
  const ended = Array.from({ length: KEPT_LOGS + 3 }, (_, index) => `act-${index}`);
  for (const [index, activation] of ended.entries()) {
    for (const name of [`${activation}.log`, `${activation}.log.1`]) {
      writeFileSync(join(bench.root, name), 'x');
      utimesSync(join(bench.root, name), index + 1, index + 1);
    }
  }
  writeFileSync(join(bench.root, 'act-living.log'), 'x');
  utimesSync(join(bench.root, 'act-living.log'), 0, 0);
  writeFileSync(join(bench.root, 'notes.txt'), 'x');
  await forgetOldLogs(bench.root, (activation) => activation === 'act-living');
  const left = readdirSync(bench.root);
  for (const gone of ['act-0', 'act-1', 'act-2']) assert.ok(!left.some((name) => name.startsWith(`${gone}.log`)), gone);
  for (const kept of ['act-3.log', 'act-3.log.1', `act-${KEPT_LOGS + 2}.log`, 'act-living.log', 'notes.txt']) {
    assert.ok(left.includes(kept), kept);
  }
});

test('F30: half a secret at the beginning of a tail goes with its half line', async (t) => {
  const bench = new Bench(t);
  const log = join(bench.root, 'some.log');
  writeFileSync(log, `${'hunter2-and-more'.repeat(8_000)}\nlast\n`);
  const redactor = { longest: 16, redact: (text: string) => text.replaceAll('hunter2-and-more', '*') };
  assert.deepEqual(await tailOf(log, 5, redactor), ['last']);
});
