import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
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
