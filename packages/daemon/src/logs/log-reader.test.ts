import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { logReader } from './log-reader.ts';

test('F30: a followed log shows whole lines as they come, over a rotation, with its secrets taken out', async (t) => {
  const logs = await mkdtemp(join(tmpdir(), 'idunn-logs-'));
  t.after(() => rm(logs, { recursive: true }));
  await mkdir(join(logs, 'ghostlight'));
  const path = join(logs, 'ghostlight/act-1.log');
  await writeFile(path, 'one\ntwo\nthree\n');
  const reader = logReader(logs, {
    logTail: () => Promise.resolve([]),
    logPath: () => path,
    redact: (_activation, text) => Promise.resolve(text.replaceAll('hunter2', '[secret password]')),
  });
  assert.equal(await reader.newest('ghostlight'), 'act-1');
  assert.equal(await reader.newest('almanac'), null);
  const stop = new AbortController();
  const lines = reader.follow('ghostlight', 'act-1', 2, stop.signal)[Symbol.asyncIterator]();
  const next = async (): Promise<string | undefined> => (await lines.next()).value;
  assert.equal(await next(), 'two');
  assert.equal(await next(), 'three');
  const fourth = next();
  await appendFile(path, 'the password is hun');
  await appendFile(path, 'ter2\n');
  assert.equal(await fourth, 'the password is [secret password]');
  const fifth = next();
  await truncate(path);
  await appendFile(path, 'anew\n');
  assert.equal(await fifth, 'anew');
  const end = lines.next();
  stop.abort();
  assert.equal((await end).done, true);
});

test('F30: where a followed log begins within a line, or a line is too long, no part of a secret shows', async (t) => {
  const logs = await mkdtemp(join(tmpdir(), 'idunn-logs-'));
  t.after(() => rm(logs, { recursive: true }));
  const path = join(logs, 'act-1.log');
  const secret = 'hunter2'.repeat(4_000);
  await writeFile(path, `${secret}${secret}${secret}\nséen\n`);
  const reader = logReader(logs, {
    logTail: () => Promise.resolve([]),
    logPath: () => path,
    redact: (_activation, text) => Promise.resolve(text.replaceAll(secret, '[secret password]')),
  });
  const stop = new AbortController();
  const lines = reader.follow('ghostlight', 'act-1', 10, stop.signal)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'séen');
  const next = lines.next();
  await appendFile(path, `${secret.repeat(40)}\nagain\n`);
  assert.equal((await next).value, 'again');
  stop.abort();
});
