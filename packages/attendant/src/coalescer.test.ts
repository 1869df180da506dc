import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeLine } from '@idunn/workload/attending';
import { FakeMachine } from '@idunn/workload/testing';
import { Coalescer } from './coalescer.ts';
import { LIMITS } from './limits.ts';

/** Presences of so many programs, and what became of them on virtual time. */
function stage(count: number) {
  const machine = new FakeMachine();
  machine.now = 12_345;
  const done: number[] = [];
  const acts = Array.from({ length: count }, (_, index) => () => void done.push(index));
  return { machine, done, acts, coalescer: new Coalescer(machine) };
}

test('what may wait happens at the next common moment, once, however often it was asked for', () => {
  const { machine, done, acts, coalescer } = stage(3);
  for (const act of [...acts, ...acts]) coalescer.add(act);
  coalescer.drop(acts[1] ?? assert.fail());
  machine.pass(2_654);
  assert.deepEqual(done, []);
  machine.pass(1);
  assert.deepEqual(done, [0, 2]);
  machine.pass(20_000);
  assert.deepEqual(done, [0, 2]);
});

test('many at once are said in bursts with a pause between, and one that was dropped meanwhile is not', () => {
  const { machine, done, acts, coalescer } = stage(600);
  for (const act of acts) coalescer.soon(act);
  assert.deepEqual(done, []);
  machine.pass(1);
  assert.equal(done.length, 250);
  coalescer.drop(acts[599] ?? assert.fail());
  for (const act of acts.slice(0, 10)) coalescer.soon(act);
  machine.pass(LIMITS.burst.pauseMs);
  assert.equal(done.length, 500);
  machine.pass(LIMITS.burst.pauseMs);
  assert.deepEqual(done.slice(500), [...acts.keys()].slice(500, 599).concat([...acts.keys()].slice(0, 10)));
});

test('a burst of the longest presences is nothing that a connection is given up for', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'idunn-burst-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 's.sock');
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer(accepted.resolve).listen(path);
  t.after(() => void server.close());
  await once(server, 'listening');
  const reader = connect(path).pause();
  t.after(() => void reader.destroy());
  const socket = await accepted.promise;
  t.after(() => void socket.destroy());
  const { machine, coalescer } = stage(0);
  const presence = 'x'.repeat(3_500);
  for (let index = 0; index < 2_000; index += 1) coalescer.add(() => writeLine(socket, { index, presence }));
  machine.pass(2_655 + LIMITS.burst.pauseMs - 1);
  assert.equal(socket.destroyed, false);
  assert.ok(socket.writableLength > 0, 'its reader did not read');
});
