import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AttendedProbe, realMachine } from '@idunn/workload/attending';
import { sentenceOf } from '../model/reading.ts';
import { lookAt } from './probe.ts';
import { Turnstile } from './turnstile.ts';

async function listening(t: TestContext, server: Server): Promise<{ host: string; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function asked(t: TestContext, answer: Answer, more: object = {}, timeoutMs = 5_000) {
  const endpoint = await listening(t, createServer(answer));
  const probe = { kind: 'http', method: 'GET', path: '/health', statuses: [200], body: null, ...more } as AttendedProbe;
  return lookAt({ probe, endpoint, timeoutMs }, realMachine);
}

test('a good answer is one with a good status and the text that it must contain', async (t) => {
  const ok: Answer = (_, response) => void response.end('all is {"well":true}');
  assert.equal((await asked(t, ok)).good, true);
  assert.equal((await asked(t, ok, { body: '"well":true' })).good, true);
  const without = await asked(t, ok, { body: '"well":false' });
  assert.equal(without.good, false);
  assert.match(sentenceOf(without), /answered 200 without the text "\\"well\\":false": all is/);
});

test('F5: a redirect is an answer, is not followed, and shows where it leads', async (t) => {
  let requests = 0;
  const found = await asked(t, (_, response) => {
    requests += 1;
    response.writeHead(301, { location: 'https://elsewhere.example/login' }).end('moved');
  });
  assert.deepEqual([found.good, found.status, found.body, requests], [false, 301, 'moved', 1]);
  assert.equal(sentenceOf(found), 'GET /health answered 301 to https://elsewhere.example/login, not followed: moved');
});

test('HEAD and POST are asked as such, each on a connection of its own', async (t) => {
  const seen: string[] = [];
  const note: Answer = (request, response) => {
    seen.push(`${request.method} ${request.headers.connection} ${request.headers['content-length']}`);
    response.end();
  };
  assert.equal((await asked(t, note, { method: 'HEAD' })).good, true);
  assert.equal((await asked(t, note, { method: 'POST' })).good, true);
  assert.deepEqual(seen, ['HEAD close undefined', 'POST close 0']);
});

test('an answer that does not come is a bad reading in time; a good status without an end is a good one', async (t) => {
  const silent = await asked(t, () => undefined, {}, 50);
  assert.deepEqual([silent.good, silent.said], [false, 'GET /health did not answer within 50 ms']);
  const endless: Answer = (_, response) => void response.write('data: 1\n\n');
  assert.equal((await asked(t, endless, {}, 50)).good, true);
  const large = await asked(t, (_, response) => void response.end('x'.repeat(10_000_000)), {}, 5_000);
  assert.equal(large.good, true);
});

test('a port that nobody listens on is a bad reading; one that accepts is a good one', async (t) => {
  const server = createTcpServer((socket) => socket.on('error', () => undefined));
  const endpoint = await listening(t, server);
  const tcp = { probe: { kind: 'tcp' }, endpoint, timeoutMs: 1_000 } as const;
  assert.equal((await lookAt(tcp, realMachine)).good, true);
  await new Promise((resolve) => server.close(resolve));
  assert.match((await lookAt(tcp, realMachine)).said, /ECONNREFUSED/);
  const http = { kind: 'http', method: 'GET', path: '/', statuses: [200], body: null } as const;
  assert.match((await lookAt({ ...tcp, probe: http }, realMachine)).said, /^GET \/: ECONNREFUSED/);
  assert.equal((await lookAt({ ...tcp, endpoint: null }, realMachine)).good, false);
});

/** A process that was killed is gone, or waits for whoever collects it. */
function stateOf(pid: number): string {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 'unreadable';
  } catch {
    return 'gone';
  }
}

const command = (code: string, timeoutMs = 10_000, environment: Record<string, string> = {}) => {
  const probe = { kind: 'command', argv: [process.execPath, '-e', code], environment, cwd: '/' } as const;
  return lookAt({ probe, endpoint: null, timeoutMs }, realMachine);
};

test('a command is judged by its exit code, in exactly the environment that it was given', async () => {
  const found = await command('console.log(JSON.stringify(process.env), process.cwd())', 10_000, { ONLY: 'this' });
  assert.deepEqual([found.good, found.body], [true, '{"ONLY":"this"} /\n']);
  const failed = await command('console.error("no disk"); process.exit(3)');
  assert.deepEqual([failed.good, failed.status, failed.body], [false, 3, 'no disk\n']);
  const probe = { kind: 'command', argv: ['/does/not/exist'], environment: {}, cwd: '/' } as const;
  assert.match((await lookAt({ probe, endpoint: null, timeoutMs: 1_000 }, realMachine)).said, /cannot be started/);
});

test('a command that does not end, or writes without end, is ended, and so is everything that it began', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'idunn-probe-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const child = join(directory, 'child');
  writeFileSync(child, '');
  const begins = `const { spawn } = require('node:child_process');
    const child = spawn('/bin/sleep', ['1000'], { stdio: 'inherit' });
    require('node:fs').writeFileSync(${JSON.stringify(child)}, String(child.pid));`;
  const hanging = await command(`${begins} setInterval(() => {}, 1e6);`, 1_500);
  assert.match(hanging.said, /did not end within 1500 ms/);
  const left = await command(`${begins} child.unref(); process.exit(0);`);
  assert.equal(left.good, true, 'it ended by itself, and what it left was ended');
  assert.match(stateOf(Number(readFileSync(child, 'utf8'))), /gone|Z|X/);
  const flood = await command('setInterval(() => process.stdout.write("x".repeat(1e5)), 0)');
  assert.match(flood.said, /wrote more than 1048576 bytes/);
});

test('only so many probes run at once; the others wait in line', async () => {
  const turnstile = new Turnstile(2);
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const enter = (name: string): Promise<void> =>
    turnstile.pass(() => {
      order.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = ['a', 'b', 'c', 'd'].map(enter);
  assert.deepEqual([order.join(), turnstile.inside], ['a,b', 2]);
  ends.get('b')?.();
  await all[1];
  await Promise.resolve();
  assert.deepEqual([order.join(), turnstile.inside], ['a,b,c', 2]);
  ends.get('a')?.();
  ends.get('c')?.();
  await all[2];
  ends.get('d')?.();
  await Promise.all(all);
  assert.equal(turnstile.inside, 0);
});
