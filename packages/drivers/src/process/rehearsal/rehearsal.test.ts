import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Outcome } from '@idunn/kernel';
import { codeOf } from '../testing/bench.ts';
import { findSandbox } from './sandbox.ts';
import { attended, http, RehearsalBench } from './testing/rehearsal-bench.ts';

interface Shown {
  readonly probe?: { readonly said: string; readonly status: number | null; readonly body: string | null };
  readonly lastLines?: readonly string[];
}

function shown(outcome: Outcome<unknown>): Shown & { readonly reason: string } {
  assert.equal(codeOf(outcome), 'rehearsal-failed');
  if (outcome.ok) throw new Error('it passed');
  return { ...(outcome.refusal.detail as unknown as Shown), reason: outcome.refusal.reason };
}

for (const controlGroups of ['when-available', 'never'] as const) {
  test(`I7: a program is tried on a copy, and nothing of it is left (groups: ${controlGroups})`, async (t) => {
    const bench = new RehearsalBench(t, { controlGroups });
    const database = new DatabaseSync(join(bench.state.root, 'app.db'));
    database.exec('CREATE TABLE starts (n INTEGER); INSERT INTO starts VALUES (1), (1), (1)');
    database.close();
    const before = readFileSync(join(bench.state.root, 'app.db'));
    // It finds what is there, and its own start beside: in the copy.
    assert.deepEqual(await bench.rehearse(await bench.program('service'), http('/', 'starts 4')), {
      ok: true,
      value: 'passed',
    });
    assert.deepEqual(readFileSync(join(bench.state.root, 'app.db')), before);
    assert.deepEqual(readdirSync(bench.state.root), ['app.db']);
    assert.deepEqual(await bench.leftovers(), []);
  });
}

test('a program whose state is still empty is rehearsed as well, by TCP and by a command too', async (t) => {
  const bench = new RehearsalBench(t);
  assert.ok((await bench.rehearse(await bench.program('service'), attended({ kind: 'tcp' }))).ok);
  const command = attended({
    kind: 'command',
    argv: [{ literal: '/usr/bin/test' }, { literal: '-s' }, { slot: 'state-path:db' }],
  });
  assert.ok((await bench.rehearse(await bench.program('service'), command)).ok);
  assert.deepEqual(readdirSync(bench.state.root), []);
});

test('F5: a program that never becomes healthy is refused with the last answer, status and body', async (t) => {
  const bench = new RehearsalBench(t);
  const rehearsal = { timeoutMs: 1_500, copyLimitBytes: 1e9 };
  const moved = shown(await bench.rehearse(await bench.program('service'), http('/moved'), { rehearsal }));
  assert.equal(moved.probe?.status, 301);
  assert.equal(moved.probe?.body, 'over there');
  assert.match(moved.reason, /GET \/moved answered 301/);
  const bad = shown(await bench.rehearse(await bench.program('service'), http('/bad'), { rehearsal }));
  assert.deepEqual([bad.probe?.status, bad.probe?.body], [503, 'not today: 1']);
  const silent = shown(await bench.rehearse(await bench.program('silent'), http('/'), { rehearsal }));
  assert.match(silent.reason, /ECONNREFUSED.*1500 ms are over/);
  assert.deepEqual(await bench.leftovers(), []);
});

test('F7, F30: a program that dies at its start is refused at once, with its last words and no secret', async (t) => {
  const bench = new RehearsalBench(t);
  const secrets = [{ name: 'token', file: join(bench.root, 'token') }];
  const failing = await bench.program('failing', { secrets });
  const { reason, lastLines } = shown(await bench.rehearse(failing, http('/')));
  assert.match(reason, /the program ended with 3 before it was healthy/);
  assert.deepEqual(lastLines, ['first line', 'token=[secret token]', '', 'Error: cannot find module']);
  assert.deepEqual(await bench.leftovers(), []);
});

test('F15: what a rehearsed program leaves behind is ended with it', async (t) => {
  const bench = new RehearsalBench(t);
  assert.ok((await bench.rehearse(await bench.program('leaving'), http('/'))).ok);
  assert.deepEqual(await bench.leftovers(), []);
});

test('I7: a rehearsed program reaches no network and no file but its own', async (t) => {
  const bench = new RehearsalBench(t);
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const args = [{ slot: 'endpoint-port' }, { literal: String(port) }, { literal: '/etc/idunn-was-here' }];
  const answer = await bench.rehearse(await bench.program('reaching', { args }), http('/', 'nothing'), {
    rehearsal: { timeoutMs: 3_000, copyLimitBytes: 1e9 },
  });
  // Where no sandbox can be made the same program does reach out, which the docs say.
  assert.equal(codeOf(answer), (await findSandbox()) === null ? 'rehearsal-failed' : 'ok');
});

test('a rehearsal that is withdrawn ends at once, and one whose state is too large is not begun', async (t) => {
  const bench = new RehearsalBench(t);
  const withdrawn = new AbortController();
  const running = bench.driver.rehearse(bench.request(await bench.program('silent'), http('/')), withdrawn.signal);
  await appears(bench.copies, 'program.log');
  withdrawn.abort();
  assert.match(shown(await running).reason, /it was withdrawn/);
  writeFileSync(join(bench.state.root, 'app.db'), 'x'.repeat(2_000));
  const rehearsal = { timeoutMs: 1_000, copyLimitBytes: 1_999 };
  const large = await bench.rehearse(await bench.program('service'), http('/'), { rehearsal });
  assert.equal(codeOf(large), 'rehearsal-too-large');
  assert.deepEqual(await bench.leftovers(), []);
});

test('I6: what a killed daemon left of a rehearsal is found and removed, whenever it was killed', async (t) => {
  const kills = [
    ['rehearsal-', 'begins'],
    ['state', 'begins'],
    ['program.log', 'begins'],
    ['app.db', 'begins'],
    ['app.db', 'rehearses'],
  ] as const;
  for (const [sign, next] of kills) {
    const bench = new RehearsalBench(t);
    const request = bench.request(await bench.program(sign === 'app.db' ? 'service' : 'silent'), http('/never'));
    const script = new URL('testing/rehearsing-daemon.ts', import.meta.url).pathname;
    const daemon = spawn(process.execPath, ['--conditions=source', script], { stdio: ['pipe', 'inherit', 'inherit'] });
    const { roots, rehearsal } = bench.options;
    daemon.stdin.end(JSON.stringify({ roots, rehearsal, root: bench.root, request }));
    await appears(bench.copies, sign);
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    assert.notDeepEqual(await bench.leftovers(), [], 'the kill came in the middle');
    if (next === 'begins') assert.deepEqual(await bench.driver.endRehearsals(), []);
    else assert.ok((await bench.rehearse(await bench.program('service'), http('/'))).ok);
    assert.deepEqual(await bench.leftovers(), [], `${sign}, ${next}`);
  }
});

/** Resolves once something of this name is below the directory. */
async function appears(directory: string, name: string): Promise<void> {
  while (
    !(existsSync(directory) && readdirSync(directory, { recursive: true }).some((path) => String(path).includes(name)))
  ) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
