import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileLog } from './file-log.ts';

test('I9: a log directory without room costs lines of the log and never the daemon', async (t) => {
  const logs = await mkdtemp(join(tmpdir(), 'idunn-file-log-'));
  t.after(() => rm(logs, { recursive: true }));
  await symlink('/dev/full', join(logs, 'daemon.log'));
  const full = fileLog(logs);
  // More than is kept of what could not be written.
  for (let n = 0; n < 1_000; n += 1) full.info({ filling: 'x'.repeat(1_000) }, `line ${n}`);
  await rm(join(logs, 'daemon.log'));
  fileLog(logs).info('there is room again');
  assert.match(await readFile(join(logs, 'daemon.log'), 'utf8'), /there is room again/);
});
