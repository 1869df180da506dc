import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '@idunn/client';
import { systemTimers } from '@idunn/kernel';
import { pino } from 'pino';
import { EventLog } from './api/event-log.ts';
import { apiServer } from './api/server.ts';
import { listenForRole } from './sockets.ts';
import { FakeEngine, fakeParts } from './testing/fake-parts.ts';

test('a role’s socket that was taken away, its directory too, is made again for its owner alone', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-role-'));
  t.after(() => rm(directory, { recursive: true }));
  const runtime = join(directory, 'run');
  const path = join(runtime, 'operator.sock');
  const server = apiServer(fakeParts(new FakeEngine()), new EventLog('life'), pino({ level: 'silent' }));
  t.after(() => server.close());
  assert.equal((await listenForRole(server, path, systemTimers)).ok, true);
  await rm(runtime, { recursive: true });
  const signal = AbortSignal.timeout(10_000);
  for (;;) {
    const answer = await createClient(path).version();
    if (answer.ok) break;
    signal.throwIfAborted();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('what is made while a role’s socket is made keeps the mode that it was given', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-role-'));
  t.after(() => rm(directory, { recursive: true }));
  const server = apiServer(fakeParts(new FakeEngine()), new EventLog('life'), pino({ level: 'silent' }));
  t.after(() => server.close());
  const paths = Array.from({ length: 2_000 }, (_, index) => join(directory, `made-${index}`));
  const making = paths.map((path) => mkdir(path, { mode: 0o700 }));
  assert.equal((await listenForRole(server, join(directory, 'operator.sock'), systemTimers)).ok, true);
  await Promise.all(making);
  const made = await Promise.all(paths.map((path) => stat(path)));
  assert.deepEqual([...new Set(made.map(({ mode }) => mode & 0o777))], [0o700]);
});
