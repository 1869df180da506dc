import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeTime } from '@idunn/kernel/testing';
import { readLines, writeLine } from './lines.ts';
import { ControlLink } from './link.ts';

test('I10: a helper that does not answer any more is lost, whatever its socket says', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-helper-'));
  t.after(() => rm(directory, { recursive: true }));
  const controlSocket = join(directory, 'helper.sock');
  let asked = Promise.withResolvers<string>();
  let mute = false;
  const sockets: Socket[] = [];
  const helper = createServer((socket) => {
    sockets.push(socket);
    readLines(socket, (message) => {
      const { id, op } = message as { id: number; op: string };
      if (!mute) writeLine(socket, { id, ok: true, value: { pid: 1 } });
      asked.resolve(op);
    });
  }).listen(controlSocket);
  t.after(() => helper.close());
  await once(helper, 'listening');
  const time = new FakeTime();
  const states: string[] = [];
  const lost = Promise.withResolvers<void>();
  const link = new ControlLink({
    name: 'router',
    unreachable: 'router-unreachable',
    lost: 'router-answer-lost',
    controlSocket,
    greeting: { fleet: 'home' },
    timers: time,
    state(state) {
      states.push(state);
      if (state === 'down') lost.resolve();
    },
    notice: () => undefined,
  });
  assert.ok((await link.connect()).ok);
  for (let round = 0; round < 4; round += 1) {
    asked = Promise.withResolvers();
    mute = round === 3;
    time.pass(5_000);
    assert.equal(await asked.promise, 'hello');
    // Answers come in their order: with this one the greeting's was taken.
    if (!mute) await link.call('hello', { fleet: 'home' }, 1_000);
  }
  time.pass(9_000);
  assert.deepEqual(states, ['up']);
  time.pass(1_000);
  await lost.promise;
  assert.deepEqual([states, link.hello, link.isMute, time.pending], [['up', 'down'], null, true, 0]);
  for (const socket of sockets) socket.destroy();
});
