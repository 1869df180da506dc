import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EngineApi, EngineEvent } from '@idunn/authority';
import { catalogue } from '@idunn/kernel';
import { createNotifiers } from './notifiers.ts';

test('a certificate that runs out is told to the way that asked for it, and then counts as told', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-notifiers-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'told.json');
  const words = ['process.stdin.pipe(require("node:fs").createWriteStream(process.argv[1], { flags: "a" }))', file];
  const told = Promise.withResolvers<string>();
  const engine: Partial<EngineApi> = { noteTold: told.resolve };
  const code = 'route-certificate-expiring';
  const notifiers = createNotifiers({
    fleet: 'home',
    files: [{ id: 'mail', command: [process.execPath, '-e', ...words], codes: [code] }],
    engine: engine as EngineApi,
    timers: { after: () => () => undefined },
    means: { wallMs: () => 0, uid: 0 },
    redact: async (_target, text) => text,
    log: (text) => told.reject(new Error(text)),
  });
  t.after(() => notifiers.stop());
  const detail = 'site.pem runs out on 2026-12-07T00:00:00.000Z';
  const about = { target: 'ghostlight', code, detail, remedy: catalogue[code].remedy, incident: 'inc-1' } as const;
  const opened = {
    event: 'incident',
    at: '2026-11-30T00:00:00.000Z',
    transaction: null,
    state: 'opened',
    ...about,
  } as const satisfies EngineEvent;
  notifiers.hear({ ...opened, state: 'closed', code: 'presence-lapsed', incident: 'inc-0' });
  notifiers.hear(opened);
  assert.equal(await told.promise, 'inc-1');
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), {
    schema: 'idunn.notice/v1',
    fleet: 'home',
    at: opened.at,
    state: 'opened',
    ...about,
  });
});
