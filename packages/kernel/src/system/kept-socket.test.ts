import assert from 'node:assert/strict';
import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepSocket } from './kept-socket.ts';

test('a socket whose file was taken away, or is another, is listened on again; one that stands is not', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-kept-'));
  const path = join(directory, 'role.sock');
  const server = createServer();
  const listen = (): Promise<void> => new Promise((resolve) => server.listen(path, resolve));
  t.after(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });
  await listen();

  let due: (() => void) | null = null;
  let armed = Promise.withResolvers<void>();
  const next = async (): Promise<void> => {
    armed = Promise.withResolvers<void>();
    due?.();
    await armed.promise;
  };
  let mended = 0;
  let broken = false;
  const timers = {
    after: (_delayMs: number, fire: () => void) => {
      due = fire;
      armed.resolve();
      return () => {
        due = null;
      };
    },
  };
  const end = keepSocket(path, timers, async () => {
    mended += 1;
    if (broken) throw new Error('no directory');
    server.close();
    await rm(path, { force: true });
    await listen();
  });
  await next();
  assert.equal(mended, 0);
  await unlink(path);
  await next();
  assert.equal(mended, 1);
  await next();
  assert.equal(mended, 1, 'it stands');
  await unlink(path);
  await writeFile(path, 'another');
  broken = true;
  await next();
  broken = false;
  await next();
  assert.equal(mended, 3, 'what could not be mended is tried again');
  await next();
  assert.equal(mended, 3);
  end();
  assert.equal(due, null);
});
