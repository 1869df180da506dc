import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { status } from '@idunn/client/schemas';
import { endFleet, fleetProcesses } from '../../scripts/lib/end-fleet.mjs';
import { addAttended } from './lib/attended.ts';
import { type Fleet, makeFleet, refusalOf } from './lib/fleet.ts';
import { until } from './lib/until.ts';
import { ask, json } from './lib/world.ts';

const PYTHON = realpathSync('/usr/bin/python3');

/** A web server on Python's standard library alone; it takes a moment to come up, as programs do. */
const server = (version: string, health = '200'): string => `import http.server, json, os, sys, time
time.sleep(0.1)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        health = self.path == '/health'
        status = ${health} if health and not os.path.exists(sys.argv[2]) else 500 if health else 200
        body = json.dumps({'version': '${version}', 'pid': os.getpid()}).encode()
        self.send_response(status)
        self.send_header('content-length', str(len(body)))
        if status == 301:
            self.send_header('location', 'https://login.example/')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

print('version ${version} listens', flush=True)
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
`;

const view = async (fleet: Fleet, target: string) => {
  const answered = await fleet.client.status();
  assert.ok(answered.ok);
  return status.parse(answered.value).targets.find((one) => one.target === target);
};

/** Readers in closed loops; any answer but 2xx on the first try is a failure. */
function readers(url: string, count: number) {
  const enough = new AbortController();
  const versions = new Set<string>();
  const failed: string[] = [];
  let answered = 0;
  let least = 0;
  const goesOn = (): boolean => !enough.signal.aborted || (answered < least && failed.length === 0);
  const loops = Array.from({ length: count }, async () => {
    while (goesOn()) {
      try {
        const { status: code, body } = await ask(url, '/');
        if (code !== 200) failed.push(`${code} ${body}`);
        versions.add((JSON.parse(body) as { version: string }).version);
        answered += 1;
      } catch (error) {
        failed.push(String(error));
      }
    }
  });
  /** Ends them once `atLeast` requests were answered. */
  return async (atLeast = 0) => {
    least = atLeast;
    enough.abort();
    await Promise.all(loops);
    return { failed, versions: [...versions].sort().join() };
  };
}

test('a Python web server that knows nothing of Idunn, from the command line', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  const port = Number(new URL(fleet.url).port) + 18;
  const url = `http://127.0.0.1:${port}`;
  const sick = `${fleet.work}/sick`;
  const source = (version: string, health?: string) => fleet.commit({ 'clock/clock.py': server(version, health) });
  await addAttended(fleet, {
    target: 'clock',
    files: { 'clock.py': server('1') },
    service: `path = "clock.py"
interpreter = "python3"
args = [{ slot = "endpoint-port" }, ${JSON.stringify(sick)}]
protocol = "http"
routed = true`,
    health: 'kind = "http"\npath = "/health"\ninterval_ms = 100\ntimeout_ms = 1_000\nfreshness_ms = 5_000',
    interpreter: { name: 'python3', path: PYTHON },
    port,
    binding: '\n[deadlines]\nstart_ms = 3_000\nwarming_ms = 3_000\n',
  });

  await t.test('is admitted, serves, and shows its last reading', async () => {
    const { code, outcome } = await fleet.up('clock');
    assert.equal(code, 0, JSON.stringify(outcome));
    assert.equal((await json<{ version: string }>(url, '/')).version, '1');
    const shown = await view(fleet, 'clock');
    assert.equal(shown?.health, 'healthy');
    assert.deepEqual(
      [shown.attended[0]?.state, shown.attended[0]?.reading?.said],
      ['active', 'GET /health answered 200'],
    );
    assert.match((await fleet.idunn('status', 'clock')).out, /probe {3}good, .*GET \/health answered 200/);
    assert.match((await fleet.idunn('doctor')).out, /attendant.*speaks for 1 program/);
    const metrics = await fleet.client.metrics();
    assert.match(metrics.ok ? metrics.value : '', /idunn_attendant_targets 1\n/);
  });

  await t.test('I7: the next version starts beside it, the route switches, and no request fails', async () => {
    await source('2');
    const end = readers(url, 4);
    const { code, outcome } = await fleet.up('clock');
    assert.equal((await json<{ version: string }>(url, '/')).version, '2');
    const { failed, versions } = await end(100);
    assert.equal(code, 0, JSON.stringify(outcome));
    assert.deepEqual([failed.slice(0, 3), versions], [[], '1,2']);
  });

  await t.test(
    'F5, I7: one that never reads well is given up before the fence, and its last answer is shown',
    async () => {
      await source('3', '301');
      const end = readers(url, 2);
      const { code, outcome } = await fleet.up('clock');
      const { failed, versions } = await end();
      assert.equal(code, 5, JSON.stringify(outcome));
      const refusal = refusalOf(outcome);
      assert.equal(refusal.code, 'candidate-never-healthy');
      const detail = JSON.stringify(refusal.detail);
      assert.match(detail, /answered 301 to https:\/\/login\.example\/, not followed/);
      assert.match(detail, /version 3 listens/, 'F7');
      assert.deepEqual([failed, versions], [[], '2']);
    },
  );

  await t.test('F7: one that dies at its start is told with its last lines', async () => {
    await fleet.commit({ 'clock/clock.py': 'raise SystemExit("no configuration")\n' });
    const { code, outcome } = await fleet.up('clock');
    assert.equal(code, 5, JSON.stringify(outcome));
    assert.match(JSON.stringify(refusalOf(outcome).detail), /no configuration/);
    assert.equal((await view(fleet, 'clock'))?.health, 'healthy');
  });

  await t.test('I5, I7: whoever else answers on the port of one that never listens proves nothing of it', async () => {
    const told = `${fleet.work}/port`;
    await fleet.commit({
      'clock/clock.py': `import sys, time
open(${JSON.stringify(told)}, 'w').write(sys.argv[1] + ';')
time.sleep(60)
`,
    });
    const deploying = fleet.up('clock');
    const written = await until(
      () => readFile(told, 'utf8').catch(() => ''),
      (text) => text.endsWith(';'),
    );
    const other = createServer((_, answer) => void answer.end('well')).listen(
      Number.parseInt(written, 10),
      '127.0.0.1',
    );
    const { code, outcome } = await deploying;
    other.close();
    assert.equal(code, 5, JSON.stringify(outcome));
    const told200 = /GET \/health answered 200, and port \d+ belongs to process \d+, which is none of it/;
    assert.match(JSON.stringify(refusalOf(outcome).detail), told200);
  });

  await t.test('I6: daemon and attendant may both be killed; what is admitted is spoken for again', async () => {
    const before = await view(fleet, 'clock');
    for (const { what, pid } of fleetProcesses({ fleet: fleet.directory, runtime: fleet.runtime })) {
      if (what === 'daemon' || what === 'attendant') process.kill(pid, 'SIGKILL');
    }
    await fleet.daemon();
    const now = await until(
      () => view(fleet, 'clock'),
      (seen) => seen?.attended[0]?.reading?.good === true && seen.health === 'healthy',
    );
    assert.equal(now?.admitted?.activation, before?.admitted?.activation);
  });

  await t.test('F11: a program that goes bad is degraded, with how often and what it answered', async () => {
    await writeFile(sick, '');
    const now = await until(
      () => view(fleet, 'clock'),
      (seen) => seen?.health === 'degraded',
    );
    const attended = now?.attended[0];
    assert.ok(attended !== undefined && attended.inARow >= 3, JSON.stringify(attended));
    assert.match(attended.reading?.said ?? '', /answered 500/);
    assert.match((await fleet.idunn('status', 'clock')).out, /bad, \d+ times in a row, .*answered 500/);
  });

  await t.test('nothing is left of the fleet when it ends', async () => {
    await endFleet({ fleet: fleet.directory, runtime: fleet.runtime, graceMs: 5_000 });
    assert.deepEqual(fleetProcesses({ fleet: fleet.directory, runtime: fleet.runtime }), []);
  });
});

test('programs without HTTP: one is looked at by TCP, one by a command of its own', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  const node = { name: 'node', path: realpathSync(process.execPath) };
  const pace = 'interval_ms = 100\ntimeout_ms = 1_000\nfreshness_ms = 5_000';
  await addAttended(fleet, {
    target: 'echo',
    files: {
      'main.js': `const { createServer } = require('node:net');
createServer((socket) => socket.pipe(socket)).listen(process.argv[2], '127.0.0.1');`,
    },
    service: 'path = "main.js"\ninterpreter = "node"\nargs = [{ slot = "endpoint-port" }]\nprotocol = "tcp"',
    health: `kind = "tcp"\n${pace}`,
    interpreter: node,
    binding: '\n[endpoint]\n',
  });
  await addAttended(fleet, {
    target: 'worker',
    files: { 'main.js': 'setInterval(() => {}, 1e6);', 'check.js': `console.log('queue is short', process.argv[2]);` },
    service: 'path = "main.js"\ninterpreter = "node"',
    health: `kind = "command"\nargv = ["node", "check.js", "now"]\n${pace}`,
    interpreter: node,
  });
  for (const [target, said, body] of [
    ['echo', /^port \d+ accepted a connection$/, null],
    ['worker', /node.* ended with 0$/, 'queue is short now\n'],
  ] as const) {
    const { code, outcome } = await fleet.up(target);
    assert.equal(code, 0, JSON.stringify(outcome));
    const [attended] = (await view(fleet, target))?.attended ?? [];
    assert.equal(attended?.state, 'active');
    assert.match(attended.reading?.said ?? '', said);
    assert.equal(attended.reading?.body, body);
  }
});
