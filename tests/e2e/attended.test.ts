import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import { test } from 'node:test';
import { addAttended } from './lib/attended.ts';
import { makeFleet } from './lib/fleet.ts';
import { json } from './lib/world.ts';

const PYTHON = realpathSync('/usr/bin/python3');

/** A web server on Python's standard library alone; it takes a moment to come up, as programs do. */
const server = (version: string, health = 200): string => `import http.server, json, os, sys, time
time.sleep(0.2)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        status = ${health} if self.path == '/health' else 200
        body = json.dumps({'version': '${version}', 'pid': os.getpid()}).encode()
        self.send_response(status)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

print('listens on', sys.argv[1], flush=True)
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
`;

test('a Python program that knows nothing of Idunn', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  const port = Number(new URL(fleet.url).port) + 18;
  const url = `http://127.0.0.1:${port}`;
  await addAttended(fleet, {
    target: 'clock',
    files: { 'clock.py': server('1') },
    service:
      'path = "clock.py"\ninterpreter = "python3"\nargs = [{ slot = "endpoint-port" }]\nprotocol = "http"\nrouted = true',
    health: 'kind = "http"\npath = "/health"\ninterval_ms = 200\ntimeout_ms = 1000\nfreshness_ms = 5000',
    interpreter: { name: 'python3', path: PYTHON },
    port,
  });

  await t.test('is admitted and serves', async () => {
    const { code, outcome } = await fleet.up('clock');
    assert.equal(code, 0, JSON.stringify(outcome));
    t.diagnostic(`own ${outcome.ownMs} of ${outcome.durationMs}`);
    assert.equal((await json<{ version: string }>(url, '/')).version, '1');
  });
});
