import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { listenerOf } from './listener.ts';

/** Listens on a port that nobody has and says which. */
const SERVER = `const server = require('node:net').createServer();
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
/** Starts it as a child without what it carries, or as one that has left it and carries the same. */
const PARENT = (leaves: boolean): string => `const { spawn } = require('node:child_process');
const { IDUNN_ACTIVATION } = process.env;
const child = spawn(process.execPath, ['-e', ${JSON.stringify(SERVER)}], {
  detached: ${leaves},
  env: ${leaves ? '{ IDUNN_ACTIVATION }' : '{}'},
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.on('SIGTERM', () => { child.kill(); process.exit(); });
setInterval(() => {}, 1e6);`;

async function begin(t: TestContext, text: string, env: Readonly<Record<string, string>> = {}) {
  const child: ChildProcess = spawn(process.execPath, ['-e', text], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const [said] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return { pid: child.pid ?? 0, port: Number(said.toString()) };
}

test('what its first process, a child or a carrier of its activation listens on is the program’s own', async (t) => {
  const alone = await begin(t, SERVER);
  assert.deepEqual(await listenerOf({ pid: alone.pid, activation: 'act-1' }, alone.port), { kind: 'own' });
  const parent = await begin(t, PARENT(false));
  assert.deepEqual(await listenerOf({ pid: parent.pid, activation: 'act-1' }, parent.port), { kind: 'own' });
  const carrier = await begin(t, PARENT(true), { IDUNN_ACTIVATION: 'act-1' });
  assert.deepEqual(await listenerOf({ pid: alone.pid, activation: 'act-1' }, carrier.port), { kind: 'own' });
});

test('I5, I7: what somebody else listens on proves nothing of a program, and is named', async (t) => {
  const [program, other] = [await begin(t, SERVER), await begin(t, SERVER, { IDUNN_ACTIVATION: 'act-2' })];
  const held = await listenerOf({ pid: program.pid, activation: 'act-1' }, other.port);
  assert.deepEqual(held, { kind: 'other', who: `process ${other.pid}, which is none of it` });
});

test('I10: a port on which nobody is seen to listen says nothing', async (t) => {
  const { pid } = await begin(t, SERVER);
  assert.deepEqual(await listenerOf({ pid, activation: 'act-1' }, 1), { kind: 'unknown' });
});
