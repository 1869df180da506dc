import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

const REHEARSER = new URL('rehearser.ts', import.meta.url).pathname;
const SERVER = `require('node:http').createServer((_, answer) => answer.end())
  .listen(Number(process.argv[1]), '127.0.0.1');`;

/** Runs the rehearser over a program that is told a port; both are gone when it answers. */
async function rehearse(t: TestContext, text: string, { port, timeoutMs }: { port: number; timeoutMs: number }) {
  const directory = mkdtempSync(join(tmpdir(), 'idunn-rehearser-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [orders, result] = [join(directory, 'orders.json'), join(directory, 'result.json')];
  const said = {
    schema: 'idunn.rehearsal-orders/v1',
    argv: [process.execPath, '-e', text, `${port}`],
    environment: { IDUNN_ACTIVATION: 'act-1' },
    cwd: directory,
    probe: { kind: 'http', method: 'GET', path: '/', statuses: [200], body: null },
    endpoint: { host: '127.0.0.1', port },
    intervalMs: 50,
    probeTimeoutMs: 1_000,
    successes: 2,
    timeoutMs,
    result,
  };
  writeFileSync(orders, JSON.stringify(said));
  const rehearser: ChildProcess = spawn(process.execPath, ['--conditions=source', REHEARSER, orders], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(rehearser, 'exit');
  process.kill(-(rehearser.pid ?? 0), 'SIGKILL');
  return JSON.parse(readFileSync(result, 'utf8')) as { readonly passed: boolean; readonly said: string };
}

test('I7: what somebody else answers on its port is no rehearsal of a program', async (t) => {
  const other = createServer((_, answer) => answer.end()).listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const silent = await rehearse(t, 'setInterval(() => {}, 1e6);', { port, timeoutMs: 1_500 });
  assert.equal(silent.passed, false);
  assert.match(silent.said, new RegExp(`answered 200, and port ${port} belongs to process ${process.pid},`));
  other.close();
  await once(other, 'close');
  const speaking = await rehearse(t, SERVER, { port, timeoutMs: 20_000 });
  assert.deepEqual([speaking.passed, speaking.said], [true, 'GET / answered 200']);
});
